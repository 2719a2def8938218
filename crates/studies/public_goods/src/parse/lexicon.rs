//! The words by which a sentence says who gives what.

/// Lists of words, compared in any letter case.
pub(super) struct WordLists(&'static [&'static [&'static str]]);

impl WordLists {
    /// Whether a word is in one of them.
    pub(super) fn has(&self, word: &str) -> bool {
        // Beyond ASCII, letters have a case too: `Überweise`.
        let lower = (!word.is_ascii()).then(|| word.to_lowercase());
        let is = |listed: &&str| {
            listed.eq_ignore_ascii_case(word)
                || lower.as_deref().is_some_and(|word| !listed.is_ascii() && *listed == word)
        };
        self.0.iter().any(|list| list.iter().any(is))
    }
}

/// The words of one or more languages.
pub(super) struct Lexicon {
    /// Verbs of giving, and labels of an amount.
    pub(super) giving: WordLists,
    /// Verbs of giving in the past: about others, unless the player says `I`.
    pub(super) gave: WordLists,
    pub(super) keeping: WordLists,
    /// A number after one of these is a total.
    pub(super) of: WordLists,
    /// A number after one of these and a word of `of` is a total: `of my 20`.
    pub(super) possessive: WordLists,
    /// A number after one of these is an ordinal.
    pub(super) numbered: WordLists,
    /// A number before one of these does not count coins.
    pub(super) counted: WordLists,
    /// By which a player speaks of itself, besides `I`.
    pub(super) first_person: WordLists,
    /// What makes a contribution the player's own: `my contribution`.
    pub(super) own: WordLists,
    /// Who else may give.
    pub(super) others: WordLists,
}

/// The words of versions 2 and 3.
pub(super) static ENGLISH: Lexicon = Lexicon {
    giving: WordLists(&[GIVING]),
    gave: WordLists(&[GAVE]),
    keeping: WordLists(&[KEEPING]),
    of: WordLists(&[OF]),
    possessive: WordLists(&[POSSESSIVE]),
    numbered: WordLists(&[NUMBERED]),
    counted: WordLists(&[COUNTED]),
    first_person: WordLists(&[]),
    own: WordLists(&[]),
    others: WordLists(&[]),
};

/// The words of version 4: English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish and
/// Polish.
pub(super) static LANGUAGES: Lexicon = Lexicon {
    giving: WordLists(&[GIVING, GIVING_ELSEWHERE]),
    gave: WordLists(&[GAVE, GAVE_ELSEWHERE]),
    keeping: WordLists(&[KEEPING, KEEPING_ELSEWHERE]),
    of: WordLists(&[OF, OF_ELSEWHERE]),
    possessive: WordLists(&[POSSESSIVE, POSSESSIVE_ELSEWHERE]),
    numbered: WordLists(&[NUMBERED, NUMBERED_ELSEWHERE]),
    counted: WordLists(&[COUNTED, COUNTED_ELSEWHERE]),
    first_person: WordLists(&[FIRST_PERSON]),
    own: WordLists(&[OWN]),
    others: WordLists(&[OTHERS]),
};

const GIVING: &[&str] = &[
    "go",
    "going",
    "give",
    "giving",
    "contribute",
    "contributing",
    "contribution",
    "put",
    "putting",
    "move",
    "moving",
    "invest",
    "investing",
    "donate",
    "donating",
    "add",
    "adding",
    "pay",
    "paying",
    "transfer",
    "transferring",
    "deposit",
    "commit",
    "committing",
    "allocate",
    "allocating",
    "offer",
    "place",
    "placing",
    "withdraw",
    "withdrawing",
    "withdrawal",
    "choose",
];

const GAVE: &[&str] =
    &["gave", "contributed", "moved", "invested", "donated", "added", "paid", "chose", "withdrew"];

const KEEPING: &[&str] = &[
    "keep",
    "keeping",
    "kept",
    "retain",
    "retaining",
    "hold",
    "holding",
    "leaves",
    "leaving",
    "remaining",
];

const OF: &[&str] = &["of", "from", "than", "per"];

const NUMBERED: &[&str] = &[
    "round", "rounds", "player", "agent", "game", "stage", "step", "turn", "day", "option", "rule",
    "period", "other",
];

const COUNTED: &[&str] = &[
    "players",
    "player",
    "others",
    "other",
    "people",
    "agents",
    "participants",
    "rounds",
    "round",
    "times",
    "members",
    "percent",
    "of",
    "more",
    "games",
    "days",
    "reasons",
    "points",
];

const POSSESSIVE: &[&str] = &["my", "the", "your", "our", "these", "those", "all", "total"];

#[rustfmt::skip]
const GIVING_ELSEWHERE: &[&str] = &[
    // German
    "gebe", "geben", "gib", "zahle", "zahlen", "einzahle", "einzahlen", "spende", "spenden", "investiere",
    "investieren", "trage", "beitrage", "beitragen", "beitrag", "lege", "leiste", "leisten", "überweise", "setze",
    "einsatz", "steuere", "wähle",
    // French
    "donne", "donner", "donnerai", "contribue", "contribuer", "contribuerai", "verse", "verser", "verserai", "mets",
    "mettre", "mettrai", "investis", "investir", "apporte", "offre",
    // Spanish
    "doy", "dar", "daré", "contribuyo", "contribuir", "contribuiré", "contribución", "aporto", "aportar", "aportaré",
    "aportación", "aporte", "pongo", "poner", "pondré", "invierto", "invertir",
    // Italian
    "dare", "darò", "contribuisco", "contribuire", "contribuirò", "contributo", "metto", "mettere", "metterò", "verso",
    "versare", "verserò", "investo", "dono",
    // Portuguese
    "dou", "darei", "contribuo", "contribuirei", "contribuição", "coloco", "colocar", "colocarei", "invisto", "doo",
    // Dutch
    "geef", "geven", "bijdragen", "bijdrage", "draag", "leg", "zet", "investeer", "doneer", "betaal",
    // Swedish
    "ger", "bidrar", "bidra", "bidrag", "satsar", "lägger",
    // Polish
    "daję", "dam", "wpłacam", "wpłacę", "wkładam", "przekazuję", "wkład",
];

#[rustfmt::skip]
const GAVE_ELSEWHERE: &[&str] = &[
    "gab", "gaben", "gegeben", "zahlte", "zahlten", "beigetragen", "spendete", "spendeten", "donné", "donnèrent",
    "contribué", "versé", "dio", "dieron", "dado", "contribuyó", "contribuyeron", "aportó", "aportaron", "pusieron",
    "dato", "diedero", "contribuito", "versato", "deu", "deram", "contribuiu", "contribuíram", "colocaram", "gaf",
    "gaven", "gegeven", "bijgedragen", "gav", "bidrog", "dał", "dali", "wpłacili",
];

#[rustfmt::skip]
const KEEPING_ELSEWHERE: &[&str] = &[
    "behalte", "behalten", "garde", "garder", "garderai", "conserve", "guardo", "guardar", "conservo", "conservar",
    "quedo", "tengo", "tenere", "mantenho", "fico", "houd", "houden", "behoud", "behåller", "zachowuję", "zatrzymuję",
];

#[rustfmt::skip]
const OF_ELSEWHERE: &[&str] = &[
    "von", "vom", "aus", "de", "des", "sur", "parmi", "del", "di", "dei", "delle", "su", "da", "das", "dos", "van", "uit",
    "av", "z", "spośród",
];

#[rustfmt::skip]
const POSSESSIVE_ELSEWHERE: &[&str] = &[
    "mein", "meine", "meinen", "meiner", "den", "insgesamt", "mes", "les", "mis", "los", "las", "miei", "mie", "le",
    "meus", "minhas", "os", "as", "mijn", "mina", "moich",
];

#[rustfmt::skip]
const NUMBERED_ELSEWHERE: &[&str] = &[
    "runde", "spieler", "spiel", "tour", "joueur", "manche", "ronda", "jugador", "turno", "giocatore", "rodada",
    "jogador", "ronde", "speler", "runda", "spelare", "gracz",
];

#[rustfmt::skip]
const COUNTED_ELSEWHERE: &[&str] = &[
    "spieler", "spielern", "runden", "prozent", "joueurs", "tours", "manches", "jugadores", "rondas", "giocatori",
    "turni", "jogadores", "rodadas", "spelers", "rondes", "spelare", "graczy",
];

const FIRST_PERSON: &[&str] =
    &["i'd", "i’d", "i'm", "i’m", "ich", "je", "j'ai", "j’ai", "yo", "io", "eu", "ik", "jag", "ja"];

#[rustfmt::skip]
const OWN: &[&str] = &[
    "my", "mein", "meine", "meinen", "mon", "ma", "mi", "mio", "meu", "minha", "mijn", "mitt", "mój",
];

#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "other", "others", "they", "he", "she", "everyone", "everybody", "player", "players", "people", "agent", "agents", "someone",
    "opponents", "teammates", "partners", "group", "rest", "most", "both",
    "anderen", "andere", "alle", "spieler", "autres", "ils", "elles", "joueurs", "otros", "demás", "ellos",
    "jugadores", "altri", "loro", "giocatori", "outros", "eles", "jogadores", "spelers", "andra", "inni",
];
