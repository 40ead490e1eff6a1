%% SPDX-License-Identifier: Apache-2.0
%% A ring of processes and one token that counts its hops down.
-module(ring).
-export([round/2]).

round(Members, Hops) ->
    Main = self(),
    First = spawn(fun() ->
        receive {next, Next} -> member(Main, Next, 0) end
    end),
    Others = spawn_others(Main, First, Members - 1, []),
    First ! {next, hd(Others)},
    {Ns, ok} = bench:timed(fun() ->
        First ! Hops,
        receive done -> ok end
    end),
    Ring = [First | Others],
    [Member ! {count, Main} || Member <- Ring],
    Sum = lists:sum([receive {count, Seen} -> Seen end || _ <- Ring]),
    bench:check(hops, Hops, Sum),
    {Ns / Hops, 0}.

%% From the last, which knows the first, to the second.
spawn_others(_, _, 0, Made) ->
    Made;
spawn_others(Main, Next, Left, Made) ->
    Member = spawn(fun() -> member(Main, Next, 0) end),
    spawn_others(Main, Member, Left - 1, [Member | Made]).

member(Main, Next, Seen) ->
    receive
        1 ->
            Main ! done,
            member(Main, Next, Seen + 1);
        Hops when is_integer(Hops) ->
            Next ! Hops - 1,
            member(Main, Next, Seen + 1);
        {count, From} ->
            From ! {count, Seen}
    end.
