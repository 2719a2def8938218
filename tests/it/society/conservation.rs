//! Nothing appears or vanishes except by the rules: random actions in random worlds, compared with
//! separately kept books; and facts that cannot have happened.

use proptest::prelude::*;
use retold_society::parse::{Action, Ballot, ProposalType, Resource, WorkType};
use retold_society::rules::{close_proposals, consume, enact, turn};
use retold_society::world::{Amount, RESOURCES, Stock, World};
use retold_society::{Fact, Personality, Rejecter, SocietyRules};

const AGENTS: u32 = 6;

/// The amount in thousandths, in which the oracle counts.
fn steps(amount: Amount) -> i64 {
    (amount.number() * 1000.0).round() as i64
}

fn stock(stock: &Stock) -> [i64; 3] {
    RESOURCES.map(|r| steps(stock.amount(r)))
}

fn amount() -> impl Strategy<Value = Amount> {
    (0_u32..8000).prop_map(|steps| Amount::exact(f64::from(steps) / 1000.0).unwrap())
}

fn stocks() -> impl Strategy<Value = Stock> {
    (amount(), amount(), amount()).prop_map(|(food, energy, materials)| Stock {
        food,
        energy,
        materials,
    })
}

fn rules() -> impl Strategy<Value = SocietyRules> {
    (stocks(), stocks(), stocks(), 0_u32..8, 1_u32..4, 0_u32..5, amount()).prop_map(
        |(start, pool, small, land, days, allocation_days, cost)| {
            let mut rules =
                SocietyRules { start, pool, land, allocation_days, ..SocietyRules::default() };
            let tenth = Amount::exact(0.1).unwrap();
            rules.needs.food = small.food.times(tenth);
            rules.needs.energy = small.energy.times(tenth);
            (rules.proposals.days, rules.infrastructure.materials) = (days, cost);
            rules
        },
    )
}

fn resource() -> impl Strategy<Value = Resource> {
    proptest::sample::select(&RESOURCES[..])
}

fn action() -> impl Strategy<Value = Action> {
    let id = -1_i64..9;
    let kinds = [
        ProposalType::Law,
        ProposalType::Allocation,
        ProposalType::Rule,
        ProposalType::Infrastructure,
        ProposalType::Other,
    ];
    let works = [WorkType::Farm, WorkType::Generate, WorkType::Gather];
    let ballots = [Ballot::Yes, Ballot::Yes, Ballot::No, Ballot::Abstain];
    let amounts = prop_oneof![0.001..9.0_f64, (0_u32..9000).prop_map(|n| f64::from(n) / 1000.0)];
    prop_oneof![
        4 => (proptest::sample::select(works.to_vec()), 0_u8..10)
            .prop_map(|(work_type, hours)| Action::Work { work_type, hours }),
        5 => (id.clone(), resource(), amounts).prop_map(|(recipient_agent_id, resource_type, amount)| {
            Action::Trade { recipient_agent_id, resource_type, amount }
        }),
        3 => (id.clone(), proptest::sample::select(ballots.to_vec())).prop_map(|(proposal_id, vote)| {
            Action::Vote { proposal_id, vote, reasoning: None }
        }),
        2 => proptest::sample::select(kinds.to_vec()).prop_map(|proposal_type| Action::CreateProposal {
            title: "T".to_owned(),
            description: "D".to_owned(),
            proposal_type,
        }),
        1 => "[a-c #1-9]{0,6}".prop_map(|content| Action::ForumPost { content }),
        1 => (id.clone(), "[a-c]{1,3}").prop_map(|(parent_message_id, content)| {
            Action::ForumReply { parent_message_id, content }
        }),
        1 => (id, "[a-c]{1,3}").prop_map(|(recipient_agent_id, content)| {
            Action::DirectMessage { recipient_agent_id, content }
        }),
        1 => "[ab]{0,2}".prop_map(|display_name| Action::SetName { display_name }),
        1 => Just(Action::Rejected { reason: "no".to_owned(), stated: None }),
    ]
}

/// Books kept from the facts alone, in whole numbers, independently of how the world keeps its own.
struct Oracle {
    rules: SocietyRules,
    agents: Vec<[i64; 3]>,
    pool: [i64; 3],
    buildings: i64,
}

fn at(resource: Resource) -> usize {
    RESOURCES.iter().position(|r| *r == resource).unwrap()
}

impl Oracle {
    fn agent(&mut self, id: u32) -> &mut [i64; 3] {
        &mut self.agents[id as usize - 1]
    }

    fn apply(&mut self, fact: &Fact, infrastructure: bool) {
        match fact {
            Fact::Worked { agent_id, work_type, hours, kept, pooled } => {
                let (hour, place) = match work_type {
                    WorkType::Farm => (750, 0),
                    WorkType::Generate => (750, 1),
                    WorkType::Gather => (500, 2),
                };
                // In thousandths; each building adds a twentieth.
                let made = hour * i64::from(*hours) * (1000 + 50 * self.buildings) / 1000;
                assert_eq!(steps(*kept) + steps(*pooled), made);
                self.agent(*agent_id)[place] += steps(*kept);
                self.pool[place] += steps(*pooled);
            }
            Fact::Traded { agent_id, recipient_agent_id, resource_type, amount } => {
                let place = at(*resource_type);
                self.agent(*agent_id)[place] -= steps(*amount);
                self.agent(*recipient_agent_id)[place] += steps(*amount);
            }
            Fact::PoolShared { agent_id, food, energy, .. } => {
                for (place, amount) in [(0, food), (1, energy)] {
                    self.pool[place] -= steps(*amount);
                    self.agent(*agent_id)[place] += steps(*amount);
                }
            }
            Fact::Built { .. } => {
                assert!(infrastructure);
                self.pool[2] -= steps(self.rules.infrastructure.materials);
                self.buildings += 1;
            }
            Fact::Consumed { agents } => {
                let needs = stock(&self.rules.needs);
                for id in agents {
                    (0..3).for_each(|place| self.agent(*id)[place] -= needs[place]);
                }
            }
            _ => {}
        }
    }

    /// Asserts that the world's books agree, that no balance is negative, and that every fact can
    /// be stored.
    fn check(&self, world: &World, fact: &Fact) {
        assert_eq!(world.breaches, [], "{fact:?}");
        for (id, mine) in (1..).zip(&self.agents) {
            assert_eq!(*mine, stock(&world.books.agent(id)), "agent {id} after {fact:?}");
            assert!(mine.iter().all(|n| *n >= 0));
        }
        assert_eq!(self.pool, stock(&world.books.pool()), "the pool after {fact:?}");
        let text = serde_json::to_string(fact).unwrap();
        assert_eq!(serde_json::from_str::<Fact>(&text).unwrap(), *fact, "{text}");
    }
}

/// The parts of a world that an action may change.
fn shape(world: &World) -> String {
    format!("{:?} {:?} {:?} {:?}", world.books, world.posts, world.proposals, world.contacts)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn resources_are_conserved_under_any_actions(
        rules in rules(),
        days in prop::collection::vec(prop::collection::vec((1_u32..=AGENTS + 1, action()), 0..14), 1..10),
    ) {
        let mut world = World::default();
        world.apply(&Fact::WorldMade { rules: rules.clone() });
        for agent_id in 1..=AGENTS {
            let (personality, model) = (Personality::Neutral, "m".to_owned());
            world.apply(&Fact::AgentJoined { agent_id, personality, model });
        }
        let mut oracle = Oracle {
            agents: vec![stock(&rules.start); AGENTS as usize],
            pool: stock(&rules.pool),
            rules,
            buildings: 0,
        };
        let mut happen = |world: &mut World, fact: Fact| {
            let is_infrastructure = match &fact {
                Fact::Built { proposal_id } => {
                    world.proposal(*proposal_id).unwrap().kind == ProposalType::Infrastructure
                }
                _ => false,
            };
            world.apply(&fact);
            oracle.apply(&fact, is_infrastructure);
            oracle.check(world, &fact);
        };
        for (day, actions) in (1..).zip(days) {
            happen(&mut world, Fact::DayBegan { day });
            for (agent_id, action) in actions {
                match turn(&world, agent_id, &action) {
                    Ok(facts) => facts.into_iter().for_each(|fact| happen(&mut world, fact)),
                    Err(_) if agent_id > AGENTS => {}
                    Err(forbidden) => {
                        let (before, reason) = (shape(&world), forbidden.to_string());
                        prop_assert!(!reason.is_empty());
                        let rejected_by = Rejecter::World;
                        happen(&mut world, Fact::InvalidAction { agent_id, rejected_by, reason, action: None });
                        prop_assert_eq!(shape(&world), before);
                    }
                }
            }
            for rule in [close_proposals, enact, consume] {
                rule(&world).into_iter().for_each(|fact| happen(&mut world, fact));
            }
            happen(&mut world, Fact::DayEnded { day });
            let figures = world.days.last().unwrap();
            prop_assert_eq!(figures.active + figures.dormant, AGENTS);
            for gini in [figures.gini_food, figures.gini_energy, figures.gini_all] {
                prop_assert!((0.0..1.0).contains(&gini));
            }
        }
    }
}

/// A log that someone has changed: facts that cannot have happened in a world with these rules are
/// reported, and change nothing.
#[test]
fn impossible_facts_are_reported() {
    let mut world = World::default();
    world.apply(&Fact::WorldMade { rules: SocietyRules::default() });
    for agent_id in 1..=2 {
        let (personality, model) = (Personality::Neutral, "m".to_owned());
        world.apply(&Fact::AgentJoined { agent_id, personality, model });
    }
    world.apply(&Fact::DayBegan { day: 1 });
    let amount = |n: f64| Amount::exact(n).unwrap();
    let before = shape(&world);
    let (personality, model) = (Personality::Neutral, "m".to_owned());
    let impossible = [
        Fact::AgentJoined { agent_id: 9, personality, model },
        Fact::DayBegan { day: 3 },
        Fact::Traded {
            agent_id: 1,
            recipient_agent_id: 2,
            resource_type: Resource::Food,
            amount: amount(6.0),
        },
        Fact::Traded {
            agent_id: 1,
            recipient_agent_id: 7,
            resource_type: Resource::Food,
            amount: amount(1.0),
        },
        Fact::Worked {
            agent_id: 1,
            work_type: WorkType::Farm,
            hours: 8,
            kept: amount(600.0),
            pooled: amount(0.0),
        },
        Fact::PoolShared { proposal_id: 1, agent_id: 1, food: amount(1.0), energy: amount(1.0) },
        Fact::Built { proposal_id: 4 },
        Fact::Consumed { agents: vec![1, 2, 3] },
        Fact::ForumPosted { agent_id: 1, message_id: 5, content: "x".into(), mentions: vec![] },
        Fact::VoteCast { agent_id: 1, proposal_id: 1, vote: Ballot::Yes },
        Fact::Idled { agent_id: 3 },
    ];
    impossible.iter().for_each(|fact| world.apply(fact));
    assert_eq!(shape(&world), before);
    let reported: Vec<String> = world.breaches.iter().map(ToString::to_string).collect();
    assert_eq!(reported.len(), impossible.len());
    insta::assert_snapshot!(reported.join("\n"));
}

#[test]
fn gini_is_that_of_hand_worked_cases() {
    use retold_society::world::gini;
    assert_eq!((gini(&[]), gini(&[0.0, 0.0]), gini(&[3.0, 3.0, 3.0])), (0.0, 0.0, 0.0));
    assert_eq!(gini(&[0.0, 0.0, 0.0, 8.0]), 0.75);
    // Half the mean absolute difference over the mean: (1 + 2 + 1) × 2 / 9 / 2 / 2.
    assert!((gini(&[3.0, 1.0, 2.0]) - 2.0 / 9.0).abs() < 1e-12);
}

#[test]
fn amounts_are_exact() {
    let exact = |n: f64| Amount::exact(n).map(|a| a.to_string());
    assert_eq!(exact(2.5).as_deref(), Some("2.5"));
    assert_eq!(exact(0.001).as_deref(), Some("0.001"));
    assert_eq!(exact(1e9).as_deref(), Some("1000000000"));
    assert_eq!(exact(0.1 + 0.2).as_deref(), Some("0.3"), "what arithmetic leaves over is no digit");
    for no in [-1.0, 0.0005, 1e10, f64::NAN, f64::INFINITY] {
        assert_eq!(exact(no), None, "{no}");
    }
}
