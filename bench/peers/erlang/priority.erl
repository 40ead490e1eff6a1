%% SPDX-License-Identifier: Apache-2.0
%% A process with Depth messages queued all the time, since it sends itself one
%% for each that it handles, and urgent ones that are to be handled first. Ways
%% to do that: selective receive, which looks at the whole mailbox for an urgent
%% one first; or sorting what has arrived into two queues of one's own.
%%
%% A number is a message: negative ones are urgent.
-module(priority).
-export([selective/3, sorted/3, urgent_selective/2, urgent_sorted/2]).

-record(state, {sent, total, every, sum = 0, open = 0, before = 0}).

%% Every so many messages an urgent one.
selective(Depth, Total, Every) ->
    mixed(Depth, Total, Every, fun select/1).

sorted(Depth, Total, Every) ->
    mixed(Depth, Total, Every, fun(State) ->
        sort(queue:new(), queue:new(), State)
    end).

mixed(Depth, Total, Every, Loop) ->
    Main = self(),
    Worker = spawn(fun() ->
        receive go -> ok end,
        State = lists:foldl(fun(_, State) -> send(State) end,
                            #state{sent = 0, total = Total, every = Every},
                            lists:seq(1, Depth)),
        Main ! Loop(State)
    end),
    {Ns, State} = bench:timed(fun() ->
        Worker ! go,
        receive State -> State end
    end),
    bench:check(sum, Total * (Total + 1) div 2, State#state.sum),
    {Ns / Total, State#state.before * Every / Total}.

send(#state{sent = Total, total = Total} = State) ->
    State;
send(#state{sent = Sent, every = Every, open = Open} = State) ->
    Number = Sent + 1,
    case Number rem Every of
        0 ->
            self() ! -Number,
            State#state{sent = Number, open = Open + 1};
        _ ->
            self() ! Number,
            State#state{sent = Number}
    end.

handle(Number, #state{sum = Sum, open = Open} = State) when Number < 0 ->
    send(State#state{sum = Sum - Number, open = Open - 1});
handle(Number, #state{sum = Sum, open = 0} = State) ->
    send(State#state{sum = Sum + Number});
handle(Number, #state{sum = Sum, before = Before} = State) ->
    send(State#state{sum = Sum + Number, before = Before + 1}).

select(State) ->
    receive
        Number when Number < 0 -> select(handle(Number, State))
    after 0 ->
        receive Number -> select(handle(Number, State))
        after 0 -> State
        end
    end.

sort(Urgent, Normal, State) ->
    receive
        Number when Number < 0 -> sort(queue:in(Number, Urgent), Normal, State);
        Number -> sort(Urgent, queue:in(Number, Normal), State)
    after 0 ->
        take(Urgent, Normal, State)
    end.

take(Urgent, Normal, State) ->
    case queue:out(Urgent) of
        {{value, Number}, Rest} ->
            sort(Rest, Normal, handle(Number, State));
        {empty, _} ->
            case queue:out(Normal) of
                {{value, Number}, Rest} ->
                    sort(Urgent, Rest, handle(Number, State));
                {empty, _} ->
                    State
            end
    end.

%% A client asks urgent questions, one at a time, while the worker is busy with
%% ordinary messages.
urgent_selective(Depth, Questions) ->
    urgent(Depth, Questions, fun() -> select_question(0) end).

urgent_sorted(Depth, Questions) ->
    urgent(Depth, Questions, fun() ->
        sort_question(queue:new(), queue:new(), 0)
    end).

urgent(Depth, Questions, Loop) ->
    Main = self(),
    Worker = spawn(fun() ->
        [self() ! Number || Number <- lists:seq(1, Depth)],
        Loop()
    end),
    Client = spawn(fun() ->
        receive go -> ok end,
        Main ! {answers, ask(Worker, Questions, 0, 0)}
    end),
    timer:sleep(10),
    {Ns, {Sum, Handled}} = bench:timed(fun() ->
        Client ! go,
        receive {answers, Answers} -> Answers end
    end),
    bench:check(sum, Questions * (Questions + 1) div 2, Sum),
    {Ns / Questions, Handled / Questions}.

%% An answer: the question's number, and how many ordinary messages the worker
%% has handled so far.
ask(_, 0, Sum, Handled) ->
    {Sum, Handled};
ask(Worker, Question, Sum, First) ->
    Worker ! {self(), Question},
    receive
        {Question, Handled} when Sum =:= 0 ->
            ask(Worker, Question - 1, Question, Handled);
        {Question, Handled} when Question =:= 1 ->
            ask(Worker, 0, Sum + 1, Handled - First);
        {Question, _} ->
            ask(Worker, Question - 1, Sum + Question, First)
    end.

select_question(Handled) ->
    receive
        {From, Question} ->
            From ! {Question, Handled},
            select_question(Handled)
    after 0 ->
        receive
            Number when is_integer(Number) ->
                self() ! Number,
                select_question(Handled + 1)
        end
    end.

sort_question(Questions, Normal, Handled) ->
    receive
        {_, _} = Question ->
            sort_question(queue:in(Question, Questions), Normal, Handled);
        Number ->
            sort_question(Questions, queue:in(Number, Normal), Handled)
    after 0 ->
        case queue:out(Questions) of
            {{value, {From, Question}}, Rest} ->
                From ! {Question, Handled},
                sort_question(Rest, Normal, Handled);
            {empty, _} ->
                {{value, Number}, Rest} = queue:out(Normal),
                self() ! Number,
                sort_question(Questions, Rest, Handled + 1)
        end
    end.
