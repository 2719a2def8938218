//! The elements of a simulated Western.

use retold::model::simulated::Dice;

/// A place, and what one sees there.
pub(super) struct StoryPlace {
    pub(super) name: &'static str,
    pub(super) sights: [&'static str; 2],
}

pub(super) const PLACES: [StoryPlace; 8] = [
    StoryPlace {
        name: "Silver Gulch Saloon",
        sights: [
            "The piano stops in the middle of a bar when you push the doors open.",
            "Cards lie face down on a table that everybody has just left.",
        ],
    },
    StoryPlace {
        name: "Sheriff's Office",
        sights: [
            "A wanted poster on the wall shows a face that could be yours.",
            "The keys to the cell hang where a long arm might reach them.",
        ],
    },
    StoryPlace {
        name: "Livery Stable",
        sights: [
            "A bay horse shies at something in the straw.",
            "The stable boy pretends not to have seen you.",
        ],
    },
    StoryPlace {
        name: "General Store",
        sights: [
            "Behind the flour sacks somebody holds his breath.",
            "The scales on the counter are a little too kind to the owner.",
        ],
    },
    StoryPlace {
        name: "Dry Creek Crossing",
        sights: [
            "Fresh tracks of four horses lead down to the water and do not come out.",
            "A wagon lies on its side, one wheel still turning.",
        ],
    },
    StoryPlace {
        name: "Abandoned Mine",
        sights: [
            "A lamp burns far down the shaft that nobody has worked for years.",
            "The timbers creak as if the hill were breathing.",
        ],
    },
    StoryPlace {
        name: "Railroad Depot",
        sights: [
            "The telegraph rattles, and the clerk turns pale while he writes.",
            "A crate with holes in its lid moves by itself.",
        ],
    },
    StoryPlace {
        name: "Boot Hill Cemetery",
        sights: [
            "A grave stands open, and the name on the board is that of a living man.",
            "Wind combs the dry grass between the crosses.",
        ],
    },
];

pub(super) const ITEMS: [&str; 10] = [
    "Rusty key",
    "Bank note",
    "Map of the mine",
    "Silver watch",
    "Coil of rope",
    "Box of cartridges",
    "Bottle of whiskey",
    "Deputy badge",
    "Letter from Abilene",
    "Lantern",
];

pub(super) const FOES: [&str; 5] = [
    "Mysterious Gunslinger",
    "One-Eyed Pete",
    "Clay Harker",
    "The Rattlesnake Kid",
    "Mad Dog Dunn",
];

pub(super) const HEROES: [&str; 6] =
    ["Cal Weaver", "Ruth Amador", "Silas Boone", "June Holloway", "Eli Marsh", "Dolores Vane"];

pub(super) const PEOPLE: [&str; 5] =
    ["Sheriff Wilson", "Doc Parrish", "Widow Crane", "The bartender", "Old Tom"];

pub(super) const SAYINGS: [&str; 4] = [
    "You are not from here, and it shows.",
    "Whoever robbed that bank is still in town.",
    "I would not go up to the mine after dark.",
    "There is a train tomorrow. You might want to be on it.",
];

/// A decision: question, importance, three options with their impact.
pub(super) struct Dilemma {
    pub(super) prompt: &'static str,
    pub(super) importance: &'static str,
    pub(super) options: [(&'static str, &'static str); 3],
}

pub(super) const DILEMMAS: [Dilemma; 4] = [
    Dilemma {
        prompt: "Do you tell the sheriff what you know about the robbery?",
        importance: "significant",
        options: [
            ("Tell him everything", "The sheriff trusts you, and the gang hears of it"),
            ("Tell him half of it", "You keep something to bargain with"),
            ("Say nothing", "The gang owes you, and the law remembers your silence"),
        ],
    },
    Dilemma {
        prompt: "The wounded man begs you not to leave him. What now?",
        importance: "critical",
        options: [
            ("Carry him to the doctor", "You lose the trail and save a life"),
            ("Leave him your canteen", "He may live, and you will be thirsty"),
            ("Ride on", "You catch up with the riders, and he dies alone"),
        ],
    },
    Dilemma {
        prompt: "The dealer has an ace in his sleeve. Do you call him out?",
        importance: "moderate",
        options: [
            ("Call him a cheat", "Guns will be drawn"),
            ("Fold and watch", "You learn who is in league with him"),
            ("Cheat back", "You win the pot and an enemy"),
        ],
    },
    Dilemma {
        prompt: "The boy asks whether he may ride with you.",
        importance: "minor",
        options: [
            ("Take him along", "He knows every path, and you answer for him"),
            ("Send him home", "He is safe, and sulks"),
            ("Let him earn it", "He spies for you in town"),
        ],
    },
];

/// One of some things; the first if there is no choice.
pub(super) fn pick<T: Copy, const N: usize>(things: &[T; N], dice: &mut Dice) -> T {
    things[dice.below(N)]
}
