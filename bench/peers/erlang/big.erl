%% SPDX-License-Identifier: Apache-2.0
%% Many to many: each process pings a random other one and waits for the pong
%% before the next ping, and answers everybody's pings meanwhile.
-module(big).
-export([round/2]).

round(Members, Pings) ->
    Main = self(),
    Pids = [spawn(fun() -> join(Main, Number) end)
            || Number <- lists:seq(0, Members - 1)],
    All = list_to_tuple(Pids),
    [Pid ! {all, All, Pings} || Pid <- Pids],
    [receive ready -> ok end || _ <- Pids],
    {Ns, ok} = bench:timed(fun() ->
        [Pid ! go || Pid <- Pids],
        [receive done -> ok end || _ <- Pids],
        ok
    end),
    [Pid ! report || Pid <- Pids],
    Reports = [receive {report, Answered, Sum} -> {Answered, Sum} end
               || _ <- Pids],
    bench:check(pings, Members * Pings, lists:sum([A || {A, _} <- Reports])),
    bench:check(pongs, Members * (Pings * (Pings + 1) div 2),
                lists:sum([S || {_, S} <- Reports])),
    {Ns / (2 * Members * Pings), 0}.

join(Main, Number) ->
    receive
        {all, All, Pings} ->
            Main ! ready,
            receive
                go -> ping(Main, All, Number, Number + 1, Pings, 0, 0)
            end
    end.

ping(Main, All, Me, Random, 0, Answered, Sum) ->
    Main ! done,
    answer(Main, All, Me, Random, 0, Answered, Sum);
ping(Main, All, Me, Random, Left, Answered, Sum) ->
    Next = Random * 48271 rem 2147483647,
    Other = (Me + 1 + Next rem (tuple_size(All) - 1)) rem tuple_size(All),
    element(Other + 1, All) ! {self(), Left},
    answer(Main, All, Me, Next, Left, Answered, Sum).

answer(Main, All, Me, Random, Left, Answered, Sum) ->
    receive
        {From, Number} ->
            From ! Number,
            answer(Main, All, Me, Random, Left, Answered + 1, Sum);
        Number when is_integer(Number) ->
            ping(Main, All, Me, Random, Left - 1, Answered, Sum + Number);
        report ->
            Main ! {report, Answered, Sum}
    end.
