//! The built-in base personas: a seeded grammar.

use std::collections::BTreeSet;

use retold::run::{below, rng_for};

/// The number of personas in the built-in set.
pub const BUILT_IN: usize = 2400;

/// Changing this changes the personas of every seeded study.
const SEED: u64 = 20_260_101;

const TRAITS: &[&str] = &[
    "patient", "outspoken", "soft-spoken", "restless", "thrifty", "generous", "stubborn",
    "curious", "sceptical", "cheerful", "tired", "ambitious", "devout", "practical", "nostalgic",
    "organised", "self-taught", "sociable", "solitary", "competitive", "gentle", "blunt",
    "idealistic", "cautious", "proud", "forgetful", "witty", "anxious", "tireless", "reserved",
];

const WORK: &[&str] = &[
    "bus driver",
    "primary school teacher",
    "nurse on night shifts",
    "plumber",
    "software tester",
    "librarian",
    "dairy farmer",
    "hotel receptionist",
    "court clerk",
    "violin teacher",
    "warehouse worker",
    "pharmacist",
    "hairdresser",
    "structural engineer",
    "social worker",
    "baker",
    "car mechanic",
    "real estate agent",
    "physics student",
    "retired postal worker",
    "security guard",
    "landscape gardener",
    "graphic designer",
    "trade union organiser",
    "dental assistant",
    "cook in a school canteen",
    "accountant",
    "youth football coach",
    "taxi driver",
    "geologist",
    "cleaner",
    "wedding photographer",
    "insurance broker",
    "midwife",
    "electrician",
    "museum guide",
    "translator",
    "fisherman",
    "call centre agent",
    "veterinarian",
    "carpenter",
    "parole officer",
    "marine biologist",
    "florist",
    "train dispatcher",
    "retired army sergeant",
    "owner of a corner shop",
    "data analyst",
    "paramedic",
    "tailor",
];

const LIFE: &[&str] = &[
    "raises three children alone",
    "cares for an ageing father",
    "moved here two years ago",
    "has lived on the same street for forty years",
    "commutes ninety minutes each way",
    "rents a small flat above a laundrette",
    "is paying off a first house",
    "lost a job last winter",
    "shares a farm with two cousins",
    "is about to become a parent",
    "lives with a chronic illness",
    "volunteers at a food bank on Sundays",
    "is the first in the family to finish school",
    "came as a refugee as a child",
    "has never owned a car",
    "is putting a daughter through college",
    "went back to study after a divorce",
    "lives in a caravan by choice",
    "keeps the books of the local mosque",
    "sings in a church choir",
];

const PASSION: &[&str] = &[
    "repairing old radios",
    "long-distance running",
    "local history",
    "growing tomatoes",
    "chess by post",
    "birdwatching",
    "restoring motorbikes",
    "crime novels",
    "street dance",
    "amateur astronomy",
    "city council meetings",
    "home brewing",
    "wild swimming",
    "quilting",
    "model railways",
    "stray cats",
    "salsa nights",
    "board games",
    "vegetable markets",
    "public radio",
    "mountain huts",
    "comic books",
    "community theatre",
    "fly fishing",
    "old maps",
    "basketball statistics",
    "bread recipes",
    "war memorials",
    "open-source software",
    "beekeeping",
];

/// The built-in set: always the same, without duplicates.
pub fn built_in() -> Vec<String> {
    let mut rng = rng_for(SEED, "built-in personas");
    let mut pick =
        |list: &[&'static str]| list.get(below(list.len(), &mut rng)).copied().unwrap_or("");
    let (mut personas, mut seen) = (Vec::with_capacity(BUILT_IN), BTreeSet::new());
    while personas.len() < BUILT_IN {
        let (nature, work, life, passion) = (pick(TRAITS), pick(WORK), pick(LIFE), pick(PASSION));
        let persona = match pick(&["1", "2", "3", "4"]) {
            "1" => format!("{} who {life}", with_article(nature, work)),
            "2" => format!("{} with a passion for {passion}", with_article(nature, work)),
            "3" => format!("{} who {life} and is known for {passion}", with_article("", work)),
            _ => format!("{} who {life} and lives for {passion}", with_article(nature, work)),
        };
        if seen.insert(persona.clone()) {
            personas.push(persona);
        }
    }
    personas
}

/// `A patient baker`, `An accountant`.
fn with_article(nature: &str, work: &str) -> String {
    let noun = format!("{nature} {work}");
    let noun = noun.trim_start();
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "An" } else { "A" };
    format!("{article} {noun}")
}
