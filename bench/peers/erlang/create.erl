%% SPDX-License-Identifier: Apache-2.0
%% A parent creates processes, each gets one message and answers it. They stop
%% (round) or stay, so that their memory can be seen (memory).
-module(create).
-export([round/2, memory/2]).

round(Count, Chunk) ->
    {Ns, Sum} = run(Count, Chunk, fun() -> spawn(fun answer/0) end),
    bench:check(sum, Count * (Count + 1) div 2, Sum),
    wait_for_end(5000),
    {Ns / Count, 0}.

memory(Count, Chunk) ->
    Before = bench:resident(),
    {Ns, Sum} = run(Count, Chunk, fun() -> spawn(fun answer_and_stay/0) end),
    After = bench:resident(),
    bench:check(sum, Count * (Count + 1) div 2, Sum),
    bench:check(alive, true, erlang:system_info(process_count) > Count),
    {(After - Before) / Count, Ns / Count}.

run(Count, Chunk, Spawn) ->
    Main = self(),
    Parent = spawn(fun() ->
        Main ! {sum, parent(Spawn, Chunk, 0, Count, 0, 0)},
        receive never -> ok end
    end),
    bench:timed(fun() ->
        Parent ! go,
        receive {sum, Sum} -> Sum end
    end).

%% A chunk of processes for each go, and answers as they come.
parent(_, _, Count, Count, Count, Sum) ->
    Sum;
parent(Spawn, Chunk, Made, Count, Answers, Sum) ->
    receive
        go when Made < Count ->
            More = min(Chunk, Count - Made),
            make(Spawn, Made + 1, Made + More),
            self() ! go,
            parent(Spawn, Chunk, Made + More, Count, Answers, Sum);
        go ->
            parent(Spawn, Chunk, Made, Count, Answers, Sum);
        Number ->
            parent(Spawn, Chunk, Made, Count, Answers + 1, Sum + Number)
    end.

make(_, Number, Last) when Number > Last ->
    ok;
make(Spawn, Number, Last) ->
    Spawn() ! {self(), Number},
    make(Spawn, Number + 1, Last).

answer() ->
    receive {From, Number} -> From ! Number end.

answer_and_stay() ->
    receive {From, Number} -> From ! Number end,
    answer_and_stay().

wait_for_end(0) ->
    exit(processes_left);
wait_for_end(Tries) ->
    case erlang:system_info(process_count) > 500 of
        true -> timer:sleep(1), wait_for_end(Tries - 1);
        false -> ok
    end.
