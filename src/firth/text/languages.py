"""What the tokenizer knows of single languages: abbreviations, elisions, clitics and rules.

Abbreviations are written without their period. docs/text.md describes the rules; kernels/sentences.py says what each
list is for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from firth.kernels import characters as chars
from firth.text.normalize import Normalizer

Language = Literal[
    "any",
    "arabic",
    "armenian",
    "dutch",
    "english",
    "french",
    "georgian",
    "german",
    "greek",
    "hebrew",
    "hindi",
    "hungarian",
    "italian",
    "persian",
    "romanian",
    "thai",
    "tibetan",
    "turkish",
    "ukrainian",
]


@dataclass(frozen=True)
class WordLists:
    """The words of a language that the tokenizer treats in a special way, separated by blanks, and its rules."""

    titles: str = ""
    enders: str = ""
    numbered: str = ""
    starters: str = ""
    elided: str = ""
    clitics: str = ""
    whole: str = ""
    continuers: str = ""
    rules: tuple[str, ...] = ()


# After a quotation, these words continue the sentence in Persian and Arabic.
PERSIAN_CONTINUERS = "و که را گفت گفتم گفتند می‌گوید می‌گفت پرسید فریاد از به با در است بود شد اما ولی یا تا هم نیز"
ARABIC_CONTINUERS = "قال قالت وقال وأضاف وأضافت"

WORDS = {
    "arabic": WordLists(continuers=ARABIC_CONTINUERS, titles="د أ م ص ج هـ ق إلخ"),
    "armenian": WordLists(numbered="թ թթ դ դդ հ հհ մլն մլրդ կմ մ սմ մմ կգ գ տ ր էջ գլ հոդ տես օր", titles="պրոֆ ակադ"),
    "dutch": WordLists(
        titles="""dr Dr drs ir ing mr Mr prof Prof mgr Mgr mevr Mevr mw Mw dhr Dhr ds kard gen kol kap lt st St fam wed
            bijv bv Bijv nl resp ca incl excl evt ong zgn zg m.b.t i.v.m d.w.z o.a m.n i.p.v t.o.v t.a.v b.v m.a.w
            a.s j.l t.w vgl Vgl cf Cf jl rk""",
        enders="enz etc e.d e.a N.V B.V Jr Sr Inc Ltd Co",
        numbered="nr nrs Nr art Art afb Afb fig tab blz p pp hfst dl jg tel",
        starters="""De Het Een En Maar Of Want Dus Hij Zij Ze Wij We Ik Jij Je U Er Dat Dit Deze Die In Op Aan Met
            Voor Na Bij Van Uit Door Over Onder Om Als Toen Nu Daar Hier Wat Wie Waar Wanneer Waarom Hoe Niet Geen Ook
            Nog Al Toch Volgens Tijdens Omdat Hoewel Terwijl Alle Veel Sommige Zijn Haar Hun Mijn Ons Onze Daarna
            Daarom""",
        whole="'t 's 'n 'm 'r 'k ’t ’s ’n ’m ’r ’k",
    ),
    "french": WordLists(
        titles="""M MM Mme Mmes Mlle Mlles Dr Drs Pr Prof Me Mgr St Ste Sts cf vs env av apr ap chap Gal Col Cdt Cne
            p.ex c.-à-d J.-C vol""",
        enders="etc Cie Sté éd ch bd Bd boul min max sq tél Tél janv févr avr juil sept oct nov déc Jr Sr",
        numbered="p pp n no nos N No art Art fig Fig t vol ex col l v s éd chap",
        starters="""Le La Les L Un Une Des Du De Il Ils Elle Elles On Ce Cet Cette Ces C Ça Cela Je Tu Nous Vous En Et
            Mais Ou Où Donc Or Ni Car Pour Par Dans Sur Sous Avec Sans Après Avant Depuis Pendant Lors Lorsque Quand
            Si Son Sa Ses Leur Leurs Mon Ma Mes Notre Nos Votre Vos Qui Que Quel Quelle Comme Comment Pourquoi Ainsi
            Alors Aussi Cependant Toutefois Néanmoins Puis Enfin Ensuite Toute Tous Tout Plusieurs Certains Chaque
            Selon Malgré""",
        elided="l d j m t s n c ç qu jusqu lorsqu puisqu quoiqu presqu quelqu entr y",
        clitics="je tu il elle on nous vous ils elles ce moi toi le la les lui leur y en",
        whole="""aujourd'hui aujourd’hui quelqu'un quelqu’un quelqu'une quelqu’une presqu'île presqu’île presqu'îles
            presqu’îles c'est-à-dire c’est-à-dire entr'acte entr’acte rendez-vous Rendez-vous Aujourd'hui Aujourd’hui
            rock'n'roll Quelqu'un Quelqu’un chez-moi chez-soi""",
        rules=("ELISION", "CLITICS", "SMALL_STARTS"),
    ),
    "georgian": WordLists(
        titles="""ბერძნ ლათ ინგლ ფრანგ გერმ ესპ იტალ რუს სპარს არაბ თურქ ებრ სომხ ესტ პოლ ჰოლ პორტ იაპ ჩინ ძვ მაგ იხ
            შდრ ე.წ ე.ი ა.შ დაახლ აბრევ არაფორმ პროფ აკად წმ სს გვ ნახ იგ სხვ""",
        numbered="წ წწ ს სს მ კმ სმ მმ კგ გ მლნ მლრდ ათ გვ ტ დ",
    ),
    "german": WordLists(
        titles="""Hr Hrn Fr Frl Dr Drs Prof St Gebr Ing Dipl Mag Hl hl Frhr Abg Abs Art Aufl Bd Bde Kap Nr Nrn Str Tel
            bzw vgl Vgl ca ggf evtl inkl exkl zzgl bspw sog sogen u.a z.B d.h m.a.W i.d.R u.U z.T s.o s.u v.a o.ä Ph.D
            z d u i v o s m geb gest gegr verh ev kath ehem urspr eigtl allg bes insb max min mind ungef durchschn Jh
            Jhd Az Ausg Anm Abb Tab Nachf Mio Mrd Std Min Sek Jan Feb Apr Aug Sept Okt Nov Dez Univ Inst Abt Verl Hrsg
            dt engl franz lat griech ital span amerik europ kgl ggü lt gem entspr""",
        enders="usw etc usf e.V Co Jr Sr u.dgl",
        numbered="S Nr p pp",
        starters="""Der Die Das Den Dem Des Ein Eine Einer Eines Einem Einen Er Sie Es Wir Ihr Ich Du Man In Im An Am
            Auf Bei Beim Mit Nach Von Vom Vor Zu Zum Zur Für Durch Über Unter Um Aus Als Wenn Weil Da Dann Danach
            Dabei Daher Damit Darauf Dies Diese Dieser Dieses Diesen Seine Sein Ihre Und Oder Aber Doch Jedoch Auch
            Nur Noch Schon So Sowie Hier Dort Wie Was Wer Wo Wann Warum Nicht Kein Keine Alle Viele Einige Andere Seit
            Während Trotz Wegen Insgesamt Außerdem Allerdings Anschließend Später Heute Zudem Bereits Nachdem Obwohl
            Ob Unser Unsere Mein Meine""",
        rules=("ORDINALS",),
    ),
    "greek": WordLists(
        titles="""κ κα κκ Κ δρ Δρ καθ αγ Αγ π.χ Π.χ δηλ βλ πρβλ λ.χ αρ Αρ τηλ χλμ μ εκ εκατ δισ τρισ χιλ τ.μ τ.χλμ στρ
            λεωφ οδ σελ άρθ παρ""",
        enders="κ.λπ κλπ κ.ά κ.τ.λ κτλ π.Χ μ.Χ π.μ μ.μ",
        elided="απ σ ν γι κατ καθ μετ μεθ παρ υπ υφ επ εφ αντ ανθ δι μ τ θ κι άλλ τόσ όσ ούτ Α Β Γ Δ Ε ΣΤ Ζ Η Θ Ι",
        starters="""Ο Η Το Οι Τα Τον Την Της Του Των Στο Στη Στην Στον Στα Στις Στους Με Για Από Και Αλλά Όμως Ωστόσο
            Επίσης Αυτό Αυτή Αυτός Αν Όταν Όπως Σε Ένα Ένας Μια Μία Δεν Θα Να Είναι Ήταν Κατά Μετά Πριν""",
        rules=("SMALL_STARTS",),
    ),
    "hebrew": WordLists(titles="גב פרופ"),
    "hindi": WordLists(titles="डॉ प्रो श्री सुश्री", rules=("HYPHENS",)),
    "hungarian": WordLists(
        titles="""dr Dr prof Prof id Id ifj Ifj özv Özv Szt szt vö Vö ún Ún pl Pl ill kb Kb szül megh u Bp krt sz Sz évf
            old tel Tel fszt em Gy Cs Zs""",
        enders="Rt Kft Bt Kht Zrt Nyrt Kkt Ltd Inc stb Stb i.e i.sz Kr.e Kr.u",
        starters="""A Az Egy Ez Ezt Ezek Azt Azok Ő Ők Én Mi Ti És De Ha Hogy Nem Mert Már Még Csak Így Ezért Azonban
            Mivel Amikor Miután Mint Most Majd Akkor Itt Ott Is Sem Ugyanakkor Viszont Tehát Igen Minden Mindez Ebben
            Abban Ennek Annak Erre Arra Ezzel Azzal Amit Ami Aki Hol Hogyan Miért Ki Mikor Szerinte Később Például
            Illetve""",
        rules=("ORDINALS", "YEARS"),
    ),
    "italian": WordLists(
        titles="""sig Sig sigg sig.ra sig.na dott Dott dott.ssa prof Prof prof.ssa avv Avv ing Ing arch on On sen Sen
            mons Mons S SS Card card gen Gen col Col cap Cap cfr Cfr es p.es ad.es v vs n distr lett gg mm segg geom
            rag spett Spett egr gent pag pagg art artt capp co p pp all fig figg tab vol voll nn""",
        enders="ecc etc s.p.a S.p.A s.r.l S.r.l a.C d.C tel Jr",
        numbered="l L r.d",
        elided="po mo va fa da di sta be a e",
        starters="""Il Lo La I Gli Le L Un Una Uno Di Da In Con Su Per Tra Fra Nel Nella Nei Nelle Al Alla Ai Del
            Della Dei Dal Dalla E Ed Ma O Se Che Chi Non Si È Come Quando Dove Perché Questo Questa Quello Quella
            Anche Dopo Prima Sono Ha Hanno Era Erano Lui Lei Loro Noi Voi Io Tu""",
        rules=("APOSTROPHES", "ELISION", "SMALL_STARTS"),
    ),
    "persian": WordLists(continuers=PERSIAN_CONTINUERS),
    "romanian": WordLists(
        titles="""dl Dl dna Dna dlui Dlui dra dr Dr prof Prof conf lect asist acad ing arh av gen Gen col Col lt mr
            cpt Sf sf Str str bd Bd bdul sos Șos cf Cf v ex Ex jud com loc mun Pr pr Sfta""",
        enders="etc ș.a ş.a ș.a.m.d ş.a.m.d S.A S.R.L î.Hr d.Hr a.m p.m Ltd Inc",
        numbered="""nr Nr art Art alin lit pct pag p vol Vol cap Cap fig Fig tab bl sc et ap tel Tel sec km cca ian
            febr aug sept oct nov dec ed op""",
        starters="""El Ea Ei Ele Eu Tu Noi Voi Un O Unul Una În Pe La Cu De Din Dintre Pentru Prin Până După Și Dar
            Iar Însă Dacă Când Cum Unde Ce Cine Care Că Să Nu Mai Aceasta Acest Această Acesta Aceste Acești Astfel
            Atunci Acum Aici Apoi Deși Deoarece Este Era Au A Se Sunt Fost Toate Toți Orice Fiecare Într Dintr""",
        elided="s S n N l L i I m M v V c C p P t T mi ți ţi și şi ne le te într întru dintr printr de dac prim un",
        clitics="l i și şi mi ți ţi le ne vă te se mă o li ni vi n ul ului lea a au ar am ai ați aţi uri urile",
        rules=("ELISION", "HYPHEN_ELISION", "CLITICS"),
    ),
    "thai": WordLists(),
    "tibetan": WordLists(),
    "turkish": WordLists(
        titles="""Dr Prof Doç Yrd Av Sn Gn Gen Org Korg Tümg Alb Yzb Bnb Müh Mim Ör ör bkz Bkz vb vs Hz St Mr Mrs Ms
            Op Uzm Arş Gör Öğr Ecz Ord Y Haz haz Çev çev ed Ed yak yy M.Ö M.S Mah Cad Sok Blv Apt""",
        enders="A.Ş Ltd Şti T.C",
        numbered="s S no No c C cilt sf",
        starters="""Bu Bir O Ve Ama Ancak Fakat Ben Sen Biz Siz Onlar Onun Bunun Şu Her Ne Niye Neden Nasıl Kim İki
            Daha Çok Hiç Sonra Önce Yine Ayrıca Böyle Böylece Şimdi Artık Eğer Çünkü İşte Da De Hem Ya Bunlar Bütün
            Tüm Bazı Kendi Diğer""",
        rules=("ORDINALS", "HYPHENS"),
    ),
    "ukrainian": WordLists(
        titles="""ім проф акад доц др пр пл вул бул обл мал див р-н о-в оз гр т.зв напр св смт м""",
        enders="т.д т.п ін та.ін н.е грн",
        numbered="р рр ст с стор км см мм кг г т млн млрд тис хв год п пп ч гл рис табл вид кв № коп",
        rules=("HYPHENS", "ITEMS"),
    ),
}


def language_rules(language: str) -> int:
    """The rules of a language, as bits for the kernel.

    >>> language_rules("german") & chars.ORDINALS > 0, language_rules("any") & chars.CONTRACTIONS > 0
    (True, True)
    """
    english = ("CONTRACTIONS", "SMALL_STARTS") if language == "english" else ("CONTRACTIONS",)
    names = WORDS[language].rules if language in WORDS else english
    return sum(getattr(chars, name) for name in ("SCRIPTS", *names))


NORMALIZERS: dict[str, Callable[..., Normalizer]] = {
    "arabic": Normalizer.arabic,
    "persian": Normalizer.persian,
    "turkish": Normalizer.turkish,
}


@cache
def language_normalizer(language: str, **options: bool) -> Normalizer:
    """The normalizer that a language starts with. The options are those of `Normalizer`.

    >>> language_normalizer("turkish", fold_case=True)("DIŞ İÇ")
    'dış iç'
    """
    make: Callable[..., Normalizer] = NORMALIZERS.get(language, Normalizer)
    return make(**options)
