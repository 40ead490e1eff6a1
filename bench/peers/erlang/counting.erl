%% SPDX-License-Identifier: Apache-2.0
%% Producers send numbers to one process, which counts and adds them.
-module(counting).
-export([round/2]).

round(Producers, Each) ->
    Main = self(),
    Counter = spawn_opt(fun() -> count(Main, Producers * Each, 0, 0) end,
                        [{message_queue_data, off_heap}]),
    Pids = [spawn(fun() -> receive go -> produce(Counter, 1, Each) end end)
            || _ <- lists:seq(1, Producers)],
    {Ns, Sum} = bench:timed(fun() ->
        [Pid ! go || Pid <- Pids],
        receive {sum, Sum} -> Sum end
    end),
    bench:check(sum, Producers * (Each * (Each + 1) div 2), Sum),
    {Ns / (Producers * Each), 0}.

produce(_, Number, Each) when Number > Each ->
    ok;
produce(Counter, Number, Each) ->
    Counter ! Number,
    produce(Counter, Number + 1, Each).

count(Main, Total, Total, Sum) ->
    Main ! {sum, Sum};
count(Main, Total, Seen, Sum) ->
    receive
        Number -> count(Main, Total, Seen + 1, Sum + Number)
    end.
