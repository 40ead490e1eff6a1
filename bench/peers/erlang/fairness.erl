%% SPDX-License-Identifier: Apache-2.0
%% Flooded processes always have Depth messages queued. The first of them sends
%% a quiet process the time, every so many messages; how long that waits to be
%% handled is what is measured.
-module(fairness).
-export([round/4]).

round(Flooded, Depth, Each, Every) ->
    Main = self(),
    Quiet = spawn(fun() -> quiet([]) end),
    Pids = [spawn(fun() ->
        receive go -> ok end,
        [self() ! Number || Number <- lists:seq(1, Depth)],
        flooded(Each, Depth, note_every(First, Every), Every, Quiet),
        Main ! done
    end) || First <- lists:seq(1, Flooded)],
    [Pid ! go || Pid <- Pids],
    [receive done -> ok end || _ <- Pids],
    Quiet ! {report, Main},
    Waits = receive {waits, Found} -> lists:sort(Found) end,
    bench:check(notes, Each div Every, length(Waits)),
    %% What 99 of 100 did not exceed, and the longest.
    {lists:nth(length(Waits) * 99 div 100 + 1, Waits) / 1000,
     lists:last(Waits) / 1000}.

%% Only the first one has something to note.
note_every(1, Every) -> Every;
note_every(_, _) -> never.

flooded(0, _, _, _, _) ->
    ok;
flooded(Left, Depth, Note, Every, Quiet) ->
    receive
        Number when Left > Depth ->
            self() ! Number,
            flooded(Left - 1, Depth, note(Note, Every, Quiet), Every, Quiet);
        _ ->
            flooded(Left - 1, Depth, note(Note, Every, Quiet), Every, Quiet)
    end.

note(never, _, _) ->
    never;
note(1, Every, Quiet) ->
    Quiet ! erlang:monotonic_time(nanosecond),
    Every;
note(Left, _, _) ->
    Left - 1.

quiet(Waits) ->
    receive
        {report, Main} -> Main ! {waits, Waits};
        Sent -> quiet([erlang:monotonic_time(nanosecond) - Sent | Waits])
    end.
