%% SPDX-License-Identifier: Apache-2.0
%% Two processes, one number back and forth, one more at each step.
-module(pingpong).
-export([round/1]).

round(Messages) ->
    Main = self(),
    Second = spawn(fun() -> player(Main, Messages, 0) end),
    First = spawn(fun() -> player(Main, Messages, 0) end),
    Second ! {partner, First},
    First ! {partner, Second},
    {Ns, Sum} = bench:timed(fun() ->
        First ! 1,
        receive {done, A} -> ok end,
        receive {done, B} -> A + B end
    end),
    bench:check(sum, Messages * (Messages + 1) div 2, Sum),
    {Ns / Messages, 0}.

player(Main, Messages, Sum) ->
    receive {partner, Partner} -> play(Main, Messages, Partner, Sum) end.

play(Main, Messages, Partner, Sum) ->
    receive
        stop ->
            Main ! {done, Sum};
        Messages ->
            Partner ! stop,
            Main ! {done, Sum + Messages};
        Number ->
            Partner ! Number + 1,
            play(Main, Messages, Partner, Sum + Number)
    end.
