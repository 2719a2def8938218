//! The rules, one by one.

use retold_society::parse::{Action, Ballot, ProposalType, Resource, WorkType};
use retold_society::rules::{close_proposals, consume, enact, turn};
use retold_society::world::{Amount, Stock, World};
use retold_society::{Fact, Personality, SocietyRules};

/// A world with the given number of agents and the default rules, on day 1.
fn world(agents: u32) -> World {
    with_rules(agents, SocietyRules::default())
}

fn with_rules(agents: u32, rules: SocietyRules) -> World {
    let mut world = World::default();
    world.apply(&Fact::WorldMade { rules });
    for agent_id in 1..=agents {
        let (personality, model) = (Personality::Neutral, "m".to_owned());
        world.apply(&Fact::AgentJoined { agent_id, personality, model });
    }
    world.apply(&Fact::DayBegan { day: 1 });
    world
}

fn amount(number: f64) -> Amount {
    Amount::exact(number).unwrap()
}

/// Applies an agent's action; panics if it is forbidden.
fn act(world: &mut World, agent: u32, action: &Action) -> Vec<Fact> {
    let facts = turn(world, agent, action).unwrap_or_else(|e| panic!("{action:?}: {e}"));
    facts.iter().for_each(|fact| world.apply(fact));
    assert_eq!(world.breaches, []);
    facts
}

fn forbidden(world: &World, agent: u32, action: &Action) -> String {
    turn(world, agent, action).unwrap_err().to_string()
}

/// The night and the next morning.
fn sleep(world: &mut World) -> Vec<Fact> {
    let mut facts = Vec::new();
    for rule in [close_proposals, enact, consume] {
        let some = rule(world);
        some.iter().for_each(|fact| world.apply(fact));
        facts.extend(some);
    }
    let day = world.day;
    world.apply(&Fact::DayEnded { day });
    world.apply(&Fact::DayBegan { day: day + 1 });
    assert_eq!(world.breaches, []);
    facts
}

fn work(work_type: WorkType, hours: u8) -> Action {
    Action::Work { work_type, hours }
}

fn give(to: i64, resource_type: Resource, amount: f64) -> Action {
    Action::Trade { recipient_agent_id: to, resource_type, amount }
}

fn post(content: &str) -> Action {
    Action::ForumPost { content: content.to_owned() }
}

fn propose(proposal_type: ProposalType) -> Action {
    let (title, description) = ("T".to_owned(), "D".to_owned());
    Action::CreateProposal { title, description, proposal_type }
}

fn vote(proposal_id: i64, vote: Ballot) -> Action {
    Action::Vote { proposal_id, vote, reasoning: None }
}

fn named(name: &str) -> Action {
    Action::SetName { display_name: name.to_owned() }
}

#[test]
fn work_brings_what_the_rules_say_and_the_pool_gets_its_share() {
    let mut world = world(3);
    act(&mut world, 1, &work(WorkType::Farm, 8));
    act(&mut world, 2, &work(WorkType::Gather, 3));
    let [one, two] = [1, 2].map(|id| world.books.agent(id));
    // 5 + 8 × 0.75 × 0.9, and 3 × 0.5 × 0.9.
    assert_eq!((one.food, two.materials), (amount(10.4), amount(1.35)));
    assert_eq!(
        (world.books.pool().food, world.books.pool().materials),
        (amount(100.6), amount(40.15))
    );
    assert_eq!(forbidden(&world, 3, &work(WorkType::Farm, 9)), "hours are from 1 to 8, not 9");
}

#[test]
fn land_runs_out_for_the_day() {
    let mut world = with_rules(3, SocietyRules { land: 1, ..SocietyRules::default() });
    act(&mut world, 2, &work(WorkType::Farm, 1));
    let said = forbidden(&world, 1, &work(WorkType::Farm, 1));
    assert_eq!(said, "no land is free today: all 1 plots are farmed");
    act(&mut world, 1, &work(WorkType::Generate, 1));
    sleep(&mut world);
    act(&mut world, 1, &work(WorkType::Farm, 1));
}

#[test]
fn gifts_move_what_is_there() {
    let mut world = world(3);
    act(&mut world, 1, &give(2, Resource::Food, 1.5));
    let [one, two] = [1, 2].map(|id| world.books.agent(id).food);
    assert_eq!((one, two), (amount(3.5), amount(6.5)));
    let said = |amount: f64, to: i64| forbidden(&world, 3, &give(to, Resource::Food, amount));
    assert_eq!(said(5.001, 1), "it has 5 food and cannot give 5.001");
    assert_eq!(said(1e300, 1), "it has 5 food and cannot give 1e300");
    assert_eq!(
        said(0.0001, 1),
        "0.0001 cannot be given: amounts are more than 0, with at most three decimals"
    );
    assert_eq!(said(1.0, 4), "there is no agent #4");
    assert_eq!(said(1.0, -1), "there is no agent #-1");
    assert_eq!(said(1.0, 3), "an agent cannot trade with itself");
}

#[test]
fn an_agent_without_food_goes_dormant_and_wakes_when_someone_provides() {
    let mut world = world(2);
    act(&mut world, 2, &give(1, Resource::Food, 4.5));
    let night = sleep(&mut world);
    let expected = [Fact::Consumed { agents: vec![1] }, Fact::WentDormant { agent_id: 2 }];
    assert_eq!(night, expected);
    assert_eq!(world.books.agent(2).energy, amount(5.0), "who goes dormant uses nothing");
    let said = forbidden(&world, 2, &post("help"));
    assert_eq!(said, "a dormant agent cannot act until someone provides food and energy");
    assert_eq!(act(&mut world, 1, &give(2, Resource::Food, 0.4)).len(), 1, "not enough to wake");
    sleep(&mut world);
    let facts = act(&mut world, 1, &give(2, Resource::Food, 0.1));
    assert_eq!(facts[1], Fact::Woke { agent_id: 2 });
    act(&mut world, 2, &post("thank you"));
    let agent = &world.agents[&2];
    // Dormant on days 2 and 3, when it was not asked; not on day 1, at the end of which it fell
    // dormant.
    assert_eq!((agent.times_dormant, agent.days_dormant), (1, 2));
    let mut world =
        with_rules(2, SocietyRules { start: Stock::default(), ..SocietyRules::default() });
    sleep(&mut world);
    let days = |world: &World| world.agents[&1].days_dormant;
    assert_eq!((world.agents[&1].dormant, days(&world)), (true, 1), "not asked today");
    world.apply(&Fact::DayEnded { day: world.day });
    assert_eq!(days(&world), 1, "no day has begun since");
}

#[test]
fn an_agent_acts_once_a_day() {
    let mut world = world(2);
    act(&mut world, 1, &Action::Idle { reasoning: None });
    let said = forbidden(&world, 1, &post("again"));
    assert_eq!(said, "an agent acts once a day, and this one has acted");
    assert_eq!(forbidden(&world, 9, &post("who?")), "there is no agent #9 to act");
}

#[test]
fn messages_reach_those_they_name() {
    let mut world = world(4);
    act(&mut world, 1, &named("Ash Tree"));
    act(&mut world, 2, &post("Ash Tree and #4 are right, #99 and #2 are not"));
    let reply = |parent| Action::ForumReply { parent_message_id: parent, content: "So?".into() };
    assert_eq!(forbidden(&world, 3, &reply(2)), "there is no message 2 in the forum");
    act(&mut world, 3, &reply(1));
    let letter = |to| Action::DirectMessage { recipient_agent_id: to, content: "Hi".into() };
    assert_eq!(forbidden(&world, 4, &letter(4)), "an agent cannot write to itself");
    act(&mut world, 4, &letter(3));
    let count = |from, to| world.contacts.get(&(from, to)).copied().unwrap_or_default();
    assert_eq!((count(2, 1).mentions, count(2, 4).mentions), (1, 1));
    assert_eq!((count(3, 2).replies, count(4, 3).messages), (1, 1));
    assert_eq!(world.contacts.len(), 4);
}

#[test]
fn a_vote_counts_once_and_until_the_last_day() {
    let mut world = world(5);
    act(&mut world, 1, &propose(ProposalType::Law));
    act(&mut world, 2, &vote(1, Ballot::Yes));
    assert_eq!(forbidden(&world, 3, &vote(2, Ballot::Yes)), "there is no proposal 2");
    assert_eq!(forbidden(&world, 3, &vote(-5, Ballot::Yes)), "there is no proposal -5");
    sleep(&mut world);
    let said = forbidden(&world, 2, &vote(1, Ballot::No));
    assert_eq!(said, "an agent votes once, and this one has voted on proposal 1");
    let said = forbidden(&world, 1, &propose(ProposalType::Rule));
    assert_eq!(said, "an agent may have 1 open proposals, and this one has 1");
    sleep(&mut world);
    assert_eq!(world.laws().count(), 0, "the third day is not over");
    let night = sleep(&mut world);
    assert_eq!(night[0], Fact::ProposalClosed { proposal_id: 1, passed: true });
    assert_eq!(world.laws().count(), 1);
    assert_eq!(forbidden(&world, 3, &vote(1, Ballot::Yes)), "proposal 1 is closed");
}

#[test]
fn a_proposal_needs_a_majority_and_a_quorum() {
    let one_day = |quorum: f64| {
        let mut rules = SocietyRules::default();
        (rules.proposals.days, rules.proposals.quorum) = (1, amount(quorum));
        let mut world = with_rules(10, rules);
        act(&mut world, 1, &propose(ProposalType::Rule));
        world
    };
    use Ballot::{Abstain, No, Yes};
    let cases: [(&[Ballot], f64, bool); 6] = [
        (&[Yes], 0.1, true),
        (&[], 0.0, false),
        (&[Yes, No], 0.1, false),
        (&[Yes, Yes, No], 0.3, true),
        (&[Yes, Yes], 0.3, false),
        (&[Yes, Abstain, Abstain], 0.3, true),
    ];
    for (ballots, quorum, passes) in cases {
        let mut world = one_day(quorum);
        for (agent, ballot) in (2..).zip(ballots) {
            act(&mut world, agent, &vote(1, *ballot));
        }
        let closed = Fact::ProposalClosed { proposal_id: 1, passed: passes };
        assert_eq!(sleep(&mut world)[0], closed, "{ballots:?} of 10, quorum {quorum}");
    }
}

/// Passes a proposal of the given kind on day 1.
fn passed(kind: ProposalType, mut rules: SocietyRules) -> (World, Vec<Fact>) {
    rules.proposals.days = 1;
    let mut world = with_rules(4, rules);
    act(&mut world, 1, &propose(kind));
    act(&mut world, 2, &vote(1, Ballot::Yes));
    let night = sleep(&mut world);
    (world, night)
}

#[test]
fn infrastructure_is_built_when_the_pool_can_pay_and_helps_all_work() {
    let (mut world, night) = passed(ProposalType::Infrastructure, SocietyRules::default());
    assert!(night.contains(&Fact::Built { proposal_id: 1 }), "{night:?}");
    assert_eq!((world.books.pool().materials, world.buildings()), (amount(20.0), 1));
    act(&mut world, 1, &work(WorkType::Generate, 4));
    // 4 × 0.75 × 1.05 × 0.9, in addition to what is left of the initial amount.
    assert_eq!(world.books.agent(1).energy, amount(4.0 + 2.835));

    let mut poor = SocietyRules::default();
    poor.pool.materials = amount(19.95);
    let (mut world, night) = passed(ProposalType::Infrastructure, poor);
    assert!(!night.contains(&Fact::Built { proposal_id: 1 }), "the pool cannot pay yet");
    act(&mut world, 1, &work(WorkType::Gather, 1));
    assert!(sleep(&mut world).contains(&Fact::Built { proposal_id: 1 }), "now it can");
    assert!(!sleep(&mut world).contains(&Fact::Built { proposal_id: 1 }), "once");
}

#[test]
fn an_allocation_fills_those_in_need_dormant_ones_first() {
    let mut rules = SocietyRules::default();
    let stock =
        |food, energy| Stock { food: amount(food), energy: amount(energy), ..Stock::default() };
    (rules.start, rules.pool) = (stock(2.0, 2.0), stock(4.0, 100.0));
    rules.proposals.days = 2;
    let mut world = with_rules(3, rules);
    act(&mut world, 1, &propose(ProposalType::Allocation));
    act(&mut world, 2, &vote(1, Ballot::Yes));
    act(&mut world, 3, &give(1, Resource::Food, 1.5));
    sleep(&mut world);
    assert!(world.agents[&3].dormant);
    let night = sleep(&mut world);
    let share = |agent_id, food, energy| {
        let (food, energy) = (amount(food), amount(energy));
        Fact::PoolShared { proposal_id: 1, agent_id, food, energy }
    };
    // Each gets three days' needs: 3 has 0.5 and 2, then 2 has 1 and 1, then 1 has 2.5 and 1. The
    // pool has 4 food.
    let expected =
        [share(3, 2.5, 1.0), Fact::Woke { agent_id: 3 }, share(2, 1.5, 2.0), share(1, 0.0, 2.0)];
    assert_eq!(night[1..5], expected);
    assert!(!sleep(&mut world).iter().any(|f| matches!(f, Fact::PoolShared { .. })), "once");
}

#[test]
fn names_are_one_line_and_used_once() {
    let mut world = world(4);
    act(&mut world, 1, &named("  Ash "));
    assert_eq!(world.name(1), "Ash");
    assert_eq!(forbidden(&world, 2, &named("ASH")), "the name \"ASH\" is another agent's");
    let number = forbidden(&world, 2, &named("agent #3"));
    assert_eq!(number, "the name \"agent #3\" is another agent's");
    assert_eq!(forbidden(&world, 2, &named(" ")), "a name has something in it and is one line");
    assert_eq!(forbidden(&world, 2, &named("a\nb")), "a name has something in it and is one line");
    act(&mut world, 2, &named("Agent #2"));
}
