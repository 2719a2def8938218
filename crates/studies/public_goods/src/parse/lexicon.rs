//! The words by which a sentence says who gives what, in English, German, French, Spanish, Italian,
//! Portuguese, Dutch, Swedish and Polish.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words, compared in any letter case.
pub(super) struct WordList(BTreeSet<&'static str>);

impl WordList {
    /// Words with spaces between them.
    fn new(words: &'static str) -> Self {
        WordList(words.split_whitespace().collect())
    }

    /// True for a word that is one of them.
    pub(super) fn has(&self, word: &str) -> bool {
        // Beyond ASCII, letters have a case too: `Überweise`.
        let lower = if word.is_ascii() { word.to_ascii_lowercase() } else { word.to_lowercase() };
        // The lower case of the sign for kelvins is `k`, which is another letter.
        lower.is_ascii() == word.is_ascii() && self.0.contains(&*lower)
    }
}

/// Verbs of giving, and labels of an amount.
pub(super) static GIVING: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "go going give giving contribute contributing contribution put putting move moving invest investing donate \
         donating add adding pay paying transfer transferring deposit commit committing allocate allocating offer \
         place placing withdraw withdrawing withdrawal choose \
         gebe geben gib zahle zahlen einzahle einzahlen spende spenden investiere investieren trage beitrage \
         beitragen beitrag lege leiste leisten überweise setze einsatz steuere wähle \
         donne donner donnerai contribue contribuer contribuerai verse verser verserai mets mettre mettrai \
         investis investir apporte offre \
         doy dar daré contribuyo contribuir contribuiré contribución aporto aportar aportaré aportación aporte \
         pongo poner pondré invierto invertir \
         dare darò contribuisco contribuire contribuirò contributo metto mettere metterò verso versare verserò \
         investo dono \
         dou darei contribuo contribuirei contribuição coloco colocar colocarei invisto doo \
         geef geven bijdragen bijdrage draag leg zet investeer doneer betaal \
         ger bidrar bidra bidrag satsar lägger \
         daję dam wpłacam wpłacę wkładam przekazuję wkład",
    )
});

/// Verbs of giving in the past: about others, unless the player says `I`.
pub(super) static GAVE: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "gave contributed moved invested donated added paid chose withdrew \
         gab gaben gegeben zahlte zahlten beigetragen spendete spendeten \
         donné donnèrent contribué versé \
         dio dieron dado contribuyó contribuyeron aportó aportaron pusieron \
         dato diedero contribuito versato \
         deu deram contribuiu contribuíram colocaram \
         gaf gaven gegeven bijgedragen \
         gav bidrog \
         dał dali wpłacili",
    )
});

/// Verbs of keeping.
pub(super) static KEEPING: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "keep keeping kept retain retaining hold holding leaves leaving remaining \
         behalte behalten \
         garde garder garderai conserve \
         guardo guardar conservo conservar quedo tengo \
         tenere \
         mantenho fico \
         houd houden behoud \
         behåller \
         zachowuję zatrzymuję",
    )
});

/// A number after one of these is a total.
pub(super) static OF: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "of from than per \
         von vom aus \
         de des sur parmi \
         del di dei delle su da das dos \
         van uit \
         av z spośród",
    )
});

/// A number after one of these and a word of [`OF`] is a total: `of my 20`.
pub(super) static POSSESSIVE: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "my the your our these those all total \
         mein meine meinen meiner den insgesamt \
         mes les \
         mis los las \
         miei mie le \
         meus minhas os as \
         mijn \
         mina \
         moich",
    )
});

/// A number after one of these is an ordinal.
pub(super) static NUMBERED: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "round rounds player agent game stage step turn day option rule period other \
         runde spieler spiel \
         tour joueur manche \
         ronda jugador turno \
         giocatore \
         rodada jogador \
         ronde speler \
         runda spelare \
         gracz",
    )
});

/// A number before one of these does not count coins.
pub(super) static COUNTED: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "players player others other people agents participants rounds round times members percent of more games \
         days reasons points \
         spieler spielern runden prozent \
         joueurs tours manches \
         jugadores rondas \
         giocatori turni \
         jogadores rodadas \
         spelers rondes \
         spelare \
         graczy",
    )
});

/// By which a player speaks of itself, besides `I`.
pub(super) static FIRST_PERSON: LazyLock<WordList> =
    LazyLock::new(|| WordList::new("i'd i’d i'm i’m ich je j'ai j’ai yo io eu ik jag ja"));

/// What makes a contribution the player's own: `my contribution`.
pub(super) static OWN: LazyLock<WordList> =
    LazyLock::new(|| WordList::new("my mein meine meinen mon ma mi mio meu minha mijn mitt mój"));

/// Who else may give.
pub(super) static OTHERS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "other others they he she everyone everybody player players people agent agents someone opponents \
         teammates partners group rest most both \
         anderen andere alle spieler \
         autres ils elles joueurs \
         otros demás ellos jugadores \
         altri loro giocatori \
         outros eles jogadores \
         spelers \
         andra \
         inni",
    )
});
