//! The arithmetic of a round, compared with a second implementation written the other way round.

use proptest::prelude::*;
use retold_public_goods::rules::{GameRules, Incentive, IncentiveKind, Units};

fn rules(multiplier: f64, incentives: Vec<Incentive>) -> GameRules {
    GameRules { endowment: 20, multiplier, incentives }
}

const PUNISHMENT: Incentive = Incentive { kind: IncentiveKind::Punishment, cost: 2.0, impact: 3.0 };

#[test]
fn the_documents_example_of_payoffs() {
    // Four players, MPCR 0.4. (The document's comment says 20 x 1.6 = 32 each, which is right.)
    let all = rules(1.6, vec![]).settle(&[(0, 20), (1, 20), (2, 20), (3, 20)], &[]);
    assert_eq!((all.public_fund, all.payoffs), (128.0, vec![32.0; 4]));
    let defector = rules(1.6, vec![]).settle(&[(0, 0), (1, 20), (2, 20), (3, 20)], &[]);
    assert_eq!(defector.payoffs, [44.0, 24.0, 24.0, 24.0]);
}

#[test]
fn a_player_who_cannot_pay_has_everything_scaled_down() {
    let rules = rules(1.6, vec![PUNISHMENT]);
    assert_eq!(rules.affordable(&[3, 2, 0], 10.0), (vec![3, 2, 0], false));
    assert_eq!(rules.affordable(&[3, 2, 0], 9.9), (vec![2, 1, 0], true));
    assert_eq!(rules.affordable(&[i64::MAX, i64::MAX], 10.0), (vec![2, 2], true));
    assert_eq!(rules.affordable(&[1], 0.0), (vec![0], true));
    assert_eq!(rules.affordable(&[0], 0.0), (vec![0], false));
}

#[test]
fn units_for_an_absent_player_change_no_one() {
    let units = [Units { actor: 0, target: 9, decided: 1, actual: 1 }];
    let settled = rules(2.0, vec![PUNISHMENT]).settle(&[(0, 0), (1, 0)], &units);
    assert_eq!(settled.payoffs, [18.0, 20.0], "the actor pays");
}

proptest! {
    /// Coins come only from the multiplier and the incentives: the sum of all payoffs is what was
    /// kept, plus the fund, minus the cost of units, plus or minus their effects.
    #[test]
    fn nothing_appears_or_vanishes(
        coins in prop::collection::vec(0..=20i64, 2..20),
        units in prop::collection::vec((0..20u32, 0..20u32, 0..5i64), 0..40),
        mpcr in 0.06..0.7f64,
        rewards: bool,
    ) {
        let kind = if rewards { IncentiveKind::Reward } else { IncentiveKind::Punishment };
        let (n, sum) = (coins.len(), coins.iter().sum::<i64>() as f64);
        let rules = rules(mpcr * n as f64, vec![Incentive { kind, ..PUNISHMENT }]);
        let coins: Vec<(u32, i64)> = (0..).zip(coins).collect();
        let there = |agent: u32| (agent as usize) < n;
        let units: Vec<Units> = units
            .into_iter()
            .filter(|(actor, target, _)| actor != target && there(*actor) && there(*target))
            .map(|(actor, target, n)| Units { actor, target, decided: n, actual: n })
            .collect();
        let settled = rules.settle(&coins, &units);
        let given = units.iter().map(|u| u.actual).sum::<i64>() as f64;
        let effect = if rewards { 3.0 } else { -3.0 };
        let expected = 20.0 * n as f64 - sum + settled.public_fund + given * (effect - 2.0);
        let actual: f64 = settled.payoffs.iter().sum();
        // Each payoff is rounded to two decimals.
        prop_assert!((actual - expected).abs() <= 0.0051 * n as f64, "{actual} {expected}");
        prop_assert_eq!(settled.public_fund, sum * rules.multiplier);
    }

    #[test]
    fn what_is_paid_for_can_be_paid_for(
        units in prop::collection::vec(0..1000i64, 1..20), budget in 0.0..500.0f64, cost in 0.0..9.0f64,
    ) {
        let rules = rules(1.6, vec![Incentive { cost, ..PUNISHMENT }]);
        let (actual, scaled) = rules.affordable(&units, budget);
        let sum = actual.iter().sum::<i64>() as f64;
        prop_assert!(sum * cost <= budget + 1e-6);
        prop_assert_eq!(scaled, units.iter().sum::<i64>() as f64 * cost > budget);
        prop_assert!(actual.iter().zip(&units).all(|(a, u)| a <= u && *a >= 0));
    }
}
