%% SPDX-License-Identifier: Apache-2.0
%% Runs one round of one row and prints what peers/erlang.cc reads: the cost of
%% one message and what the row measures beside it. Starting the virtual
%% machine does not count; a wrong result ends it with status 1.
-module(bench).
-export([main/1, timed/1, check/3, resident/0]).

%% -run bench main MODULE ROUND NUMBER...
main([Module, Round | Words]) ->
    Numbers = [list_to_integer(Word) || Word <- Words],
    %% init, which called us, is no ordinary process: it traps exits.
    {Pid, Monitor} = spawn_monitor(fun() ->
        exit({result, apply(list_to_atom(Module), list_to_atom(Round),
                            Numbers)})
    end),
    receive
        {'DOWN', Monitor, process, Pid, {result, {Cost, Beside}}} ->
            io:format("~.6f ~.6f~n", [float(Cost), float(Beside)]),
            erlang:halt(0, [{flush, true}]);
        {'DOWN', Monitor, process, Pid, Reason} ->
            io:format(standard_error, "erlang: ~p~n", [Reason]),
            erlang:halt(1)
    end.

%% The nanoseconds that Work takes, and its result.
timed(Work) ->
    Start = erlang:monotonic_time(nanosecond),
    Result = Work(),
    {erlang:monotonic_time(nanosecond) - Start, Result}.

check(_, Expected, Expected) ->
    ok;
check(What, Expected, Found) ->
    exit({wrong, What, expected, Expected, found, Found}).

%% Resident memory of this process of the operating system, in bytes.
resident() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = string:lexemes(binary_to_list(Text), " "),
    list_to_integer(Pages) * 4096.
