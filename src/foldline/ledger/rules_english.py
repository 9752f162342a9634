"""What makes a rule in English: a table of words and patterns for `foldline.ledger.rule_words`, and nothing else.

A pattern asks for more than a word: "don't" is a rule where it opens a clause and none after "I"; "at most" is one
before a number. Wrongly finding one costs a line of a ledger, missing one can cost the session, so a doubtful case
counts as a rule unless it is how people plainly report what happens.
"""

from __future__ import annotations

from foldline.ledger.rule_words import Row, row

_OPEN = (
    r"(?:^|[,;:.!?…(\[\"'“‘*_>#—–/]|\s-{1,2}\s|^-"
    r"|\b(?:and|but|so|please|pls|plz|also|just|then|or|absolutely|again|okay|ok|really|simply|rather|note|important"
    r"|critical|remember|finally|firstly|secondly|that|to|because|since|while|possible|guys|obviously|ideally"
    r"|strictly|literally|kindly|still|now|only one|you|will|would|we)\s)[^\S\n]*"
)
"""Where an imperative can stand: at the start of a clause, or after one of these words. A line break is not passed over:
behind it a clause starts anyway."""
_NUMBER = (
    r"(?:[$€£¥]\s?)?(?:\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b"
    r"|a (?:dozen|hundred|thousand|million|single|week|day|month)\b)"
)
_NOT_RULES = (
    r"(?!\s+(?:know|think|see|have (?:any|a|the|my|an|to)|worry|get me wrong|mind|recall|seem|sweat|hesitate|bother|feel"
    r"|remember|believe|understand)\b)"
)
_REPORTS = r"(?!\s+(?:know|think|see|have|want|need|care|get|really|even|like|find|yet|actually|expect|hope|got|mean)\b)"
_ACTS = (
    r"(?:use|touch|change|edit|modify|run|write|return|output|reply|answer|respond|read|work|add|commit|push|deploy|allow|call|install"
    r"|import|if|in|on|with|after|when|for|the|one|a|what|once|fix|delete|rename|do|support|log|print|ask|show|send|store|test)"
)
_LANGUAGES = "english|german|french|spanish|portuguese|italian|chinese|mandarin|japanese|korean|russian|dutch|polish|turkish|arabic|hindi"
_FORMS = (
    "json|yaml|toml|xml|csv|tsv|html|markdown|md|sql|bullets?|tables?|plain text|prose|lower|upper|camel|snake|kebab|iso|utc"
    "|british|american|full sentences|one (?:line|sentence|paragraph|word)"
)

ENGLISH: tuple[Row, ...] = (
    row(
        "prohibition",
        "don dont do donot never let lets",
        _OPEN
        + r"(?:do\s*n[o']?t|don’t|do not|never(?!\s?mind\b)|let['’]?s (?:not|never)|let us not)\b"
        + _NOT_RULES,
    ),
    row(
        "prohibition",
        "must mustn mustnt shall shan shant should shouldn may can cannot ought need needn neednt will won are is",
        r"\b(?:must|shall|should|may|ought to|are to|is to|need|will|can) (?:not|never)\b(?!\s+(?:we|i|it|this|that|matter|happen)\b)(?<!may not)(?<!can not)(?<!will not)",
        r"\b(?:mustn|needn|shan)['’]?t\b",
        r"\b(?:you|nobody|no one|they|anyone|users?|agents?) (?:can ?not|can['’]t|may not|won['’]t|will not|shouldn['’]t)\b",
        r"\b(?:can(?:['’]t| ?not)|may not) (?:be )?(?:changed?|touch(?:ed)?|modif(?:y|ied)|edit(?:ed)?|removed?|deleted?|br(?:eak|oken)|renamed?|moved?|used?|shared?|logged|exceed(?:ed)?)\b",
        r"\bshouldn['’]t (?:be|have|contain|use|change|touch|break|depend|require|need|rely|go|exceed|ever|do|add|import|call|log)\b",
    ),
    row(
        "prohibition",
        "could can would will please mind prefer rather",
        r"\b(?:could|can|would|will) (?:you|we) (?:(?:please|maybe|just|possibly|kindly) )*(?:not|never|avoid|stop|leave|refrain)\b",
        r"\bmind not\b",
        r"\bplease,? (?:not|no)\b",
        r"\bi(?:['’]d| would) (?:rather|prefer) (?:you |that you |we |it )?(?:did ?n[o'’]t|do ?n[o'’]t|not)\b",
    ),
    row(
        "prohibition",
        "want we",
        r"\bi (?:do not|don['’]t|never) want (?:you|us|any|anyone|it|this|that|the|to)\b",
        r"\bwe (?:never|do not|don['’]t)\b" + _REPORTS + _NOT_RULES,
    ),
    row(
        "prohibition",
        "avoid avoiding refrain away hands steer stop quit circumstance circumstances way account event means point",
        _OPEN + r"(?:avoid(?:ing)?\b|(?:stop|quit) \w+ing\b)",
        r"\brefrain from\b",
        r"\bstay away from\b",
        r"\bhands off\b",
        r"\bsteer clear\b",
        r"\b(?:under|in|by|on) no (?:circumstances?|way|event|means|account)\b",
        r"\bat no point\b",
    ),
    row(
        "prohibition",
        "forbidden prohibited banned limits allowed permitted acceptable unacceptable frozen read disallowed taboo okay ok go",
        r"\b(?:is|are|it['’]s|remains?|stays?|be|as|strictly|absolutely) (?:strictly |absolutely |currently |also )?(?:forbidden|prohibited|banned|not (?:allowed|permitted|acceptable|ok(?:ay)?)|unacceptable|frozen|read[- ]only|disallowed|taboo)\b",
        r"\boff[- ]limits\b",
        r"\b(?:forbidden|prohibited)\s*:",
        r"^(?:strictly )?(?:forbidden|prohibited|not allowed|off[- ]limits)\s*:?$",
        r"\bno-go\b",
        r"\bunacceptable\b",
    ),
    row(
        "prohibition",
        "leave keep",
        _OPEN
        + r"(?:leave|keep) (?:\S+ ){1,8}?(?:alone|untouched|as[- ]is|as (?:it|they) (?:is|are)|unchanged|intact|out of|private|secret)\b",
    ),
    row(
        "prohibition",
        "no nothing single even",
        _OPEN
        + r"(?:with\s+)?(?:absolutely )?no (?!problem|idea|worr|longer|one\b|way|thank|such|matter|doubt|luck|need\b|more questions|wonder|clue|point|rush|hurry|result|response|error|issue|difference|big deal|it\b|that\b|this\b|i\b|we\b|you\b|they\b|not\b|funciona|module|tests? ran|fix(?:es)? applied|files? included|changes? (?:made|detected)|\w+ (?:were|was|is|are|found|available)\b)[a-z`'\"-]+",
        r"(?<!there's )(?<!is )\bnothing (?:else|other than)\b",
        r"\bnothing\b.{0,60}\b(?:may|must|should) be\b",
        r"\bnot (?:a single|even one|one single)\b",
    ),
    row(
        "prohibition",
        "nothing nobody none one only stay outside inside within restrict confine limit sacred untouchable stone belong place",
        _OPEN
        + r"(?:(?:touch|change|rename|edit|delete|modify|add|remove|commit|push|install|break|alter|move|assume|invent) nothing"
        r"|stay (?:inside|within|out of|off)|(?:restrict|confine|limit) (?:yourself|your|changes|edits|all|it|work))\b",
        r"\b(?:nobody|no one|none) (?:but|except|other than) \w+",
        r"\b(?:changes?|edits?|anything|files?) outside\b.{1,60}\b(?:not|forbidden|off|unwelcome)\b",
        r"\b(?:is|are) (?:sacred|untouchable|(?:set|cast|carved) in stone)\b",
        r"\b(?:do(?:es)?n['’]t|do(?:es)? not) belong in (?:the |our |a )?(?:logs?|repo|repository|code|git|commits?|config|source|production|tests?)\b",
        r"\b(?:have|has) no place (?:in|on)\b",
        r"\bthe only (?:place|folder|directory|file|files|branch|thing)s? (?:(?:where|that|which) )?you (?:can|may|should)\b",
    ),
    row(
        "prohibition",
        "only i me we my",
        r"(?:^|[.;:!?]\s+)only (?:i|me|we) (?:(?:am|are) (?:allowed|going) to |may |can |should |get to )?(?:push|deploy|merge|commit|change|edit|delete|run|approve|release|touch|write)\w{0,3}\b",
        r"\b\w+ing (?:is|stays|remains) my (?:job|call|responsibility|decision)\b",
        r"\bi hate (?:it )?when (?:people|you|someone|somebody|anyone|devs|agents)\b",
        r"\bi(?:['’]d| would) (?:be \w+|appreciate it|like it|prefer it) if (?:you|we|nobody|no one)\b.{0,20}(?:n['’]t|not)\b",
    ),
    row(
        "prohibition",
        "only",
        r"(?:^|[.;:!?]\s+)only (?!one\b|two\b|some\b|few\b|that\b|this\b|it\b|half\b|\d)(?:the |our |my )?[\w'-]{1,30}(?: team)? (?:(?:may|can|should|must|gets to|is allowed to|are allowed to) \w|(?:edit|change|touche|pushe|deploy|merge|commit|delete|approve|release|own|write)s\b)",
    ),
    row(
        "prohibition",
        "read frozen hands limits touch edit change",
        r"^[\w./*`@-]{1,80}\s?[:=—–]\s{0,3}(?:is |strictly )?(?:read[- ]only|off[- ]limits|frozen|hands off|(?:do not|don['’]t|never) (?:touch|edit|change))\b",
    ),
    row(
        "format",
        "without",
        r"^(?:all )?(?:commit messages?|commits|comments?|code|branch names?|names?|answers?|repl(?:y|ies)|responses?|docstrings?|logs?|output|titles?|docs?|summar(?:y|ies)|tests?)(?:,? please,?)? without (?:any )?[\w-]{2,30}(?:,? please)?[.!]{0,2}$",
    ),
    row(
        "prohibition",
        "stay stays remain remains leave leaves be everything out",
        r"\b(?:stays?|remains?) (?:exactly )?(?:as (?:it is|they are|is)\b|the way (?:it|they)\b|unchanged|untouched|private|frozen)\b",
        r"(?:^|[.;:!?]\s+)(?:all |our |the |customers?['’]? |users?['’]? |personal )*(?:data|code|secrets?|passwords?|keys?|credentials|logs|backups?) (?:stays?|remains?|must stay|never leaves?) (?:in|on|within|inside|out of|private|local)\b",
        r"\bshould (?:stay|remain|be kept) (?:out of|in|within|private|unchanged|untouched|the same|under|below)\b",
        _OPEN + r"leave (?:\S+ ){1,5}be[.!]?$",
        r"\beverything (?:except|but) \S.{0,60}\b(?:may|can)\b",
    ),
    row(
        "prohibition",
        "omit exclude spare skip",
        _OPEN + r"(?:omit|exclude|spare (?:me|us))\b(?! (?:by|from the count))",
        _OPEN
        + r"skip the (?:explanations?|intro(?:duction)?|preamble|summary|pleasantries|small talk|comments)\b",
    ),
    row(
        "duty",
        "each every all any anything without",
        r"(?:^|[.;:!?]\s+)(?:each|every|all|any|anything)\b[^.,\n]{1,40}\b(?:gets?|needs?) (?:a|an|its own|their own|at least one) (?:\w+ )?(?:tests?|docstrings?|comments?|types?|reviews?|entry|entries|changelog|ticket|issue)\b",
        r"(?:^|[.;:!?]\s+)(?:each|every|all|any|anything)\b[^.,\n]{1,40}\b(?:is|are|needs?|has|have) to be \w+",
        r"\bwithout (?:\w+ ){1,3}(?:will not|won['’]t|does not|doesn['’]t|cannot|can['’]t) (?:be |get )?(?:merged|accepted|approved|deployed|released|shipped)\b",
    ),
    row(
        "duty",
        "important essential crucial vital critical imperative times green",
        r"\b(?:it['’]s|it is) (?:\w+ )?(?:important|essential|crucial|vital|critical|imperative) (?:that|to)\b",
        r"\b(?:has|have|needs?|ought) to (?:be|stay) (?:always )?green\b",
        r"\bat all times\b",
    ),
    row(
        "duty",
        "must",
        r"\bmust\b(?!\s+(?:have (?:been|had|got|left|gone|done|lost|\w+ed)\b|be (?:wrong|missing|something|because|due|some|that|it|nice|hard)|say|admit|confess)\b)(?!n?['’ ]*(?:not|never|t|ve)\b)",
    ),
    row(
        "duty",
        "always every",
        _OPEN + r"always\b",
        r"\b(?:should|must|shall|please|to|we|you|will) always\b",
        r"\bevery (?:time|commit|change|file|function|test|response|answer|message|step|module|class|request)\b.{0,40}\b(?:must|should|needs?|has to)\b",
    ),
    row(
        "duty",
        "make ensure sure careful care remember mind forget see note",
        _OPEN
        + r"(?:make sure|be sure to|ensure|see to it|be careful|take care|remember(?! when)|keep in mind|bear in mind|(?:don['’]t|do not|never) forget|note that)\b",
    ),
    row(
        "duty",
        "required mandatory compulsory obligatory essential crucial critical negotiable nonnegotiable rule rules line lines limit limits requirement requirements constraint constraints restriction restrictions guideline guidelines convention conventions policy policies invariant invariants must important warning reminder nb",
        r"\b(?:is|are|it['’]s) (?:required|mandatory|compulsory|obligatory|essential|crucial|critical|a must)\b",
        r"\bnon-?negotiable\b",
        r"\b(?!key li)(?:hard|strict|red|golden|firm|house|key|ground|iron) (?:red )?(?:rule|line|requirement|limit|constraint)s?\b",
        r"\b(?:(?:rule|constraint|requirement|restriction|guideline|convention|invariant)s?|polic(?:y|ies))(?: \w{1,8})?\s?[:=–—](?=\s*\S)",
        r"\b(?:important|critical|mandatory|reminder|nb)\s?[:!–—](?=\s*\S)",
    ),
    row(
        "duty",
        "keep stay remain backward backwards compatible under below least most less idempotent exact same done kept insist stick preserve maintain respect comply adhere follow",
        _OPEN
        + r"keep (?!going|getting|investigating|up\b|in touch|on\b|it up|working|trying|looking|digging)\S+",
        r"\b(?:has|have|needs?) to (?:stay|remain|keep|be (?:kept|compatible|backwards?|under|below|at (?:least|most)|less|idempotent|exact|the same|done by))\b",
        _OPEN
        + r"(?:insist|stick (?:to|with)|preserve|maintain|respect|comply with|adhere to|follow (?:the|our|my))\b(?! (?:these|the following|this) steps)",
    ),
    row(
        "limit",
        "most least more less fewer later earlier longer max maximum min minimum up within under below exceed exceeding stay limit limited cap capped",
        r"\b(?:at (?:most|least)|no (?:more|less|fewer|later|earlier|longer) than|not (?:more|less|fewer|later|longer) than|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|up to|less than|fewer than|within|under|below|exceed(?:ing)?|stay (?:under|below|within)|limit(?:ed)?(?: \w+)? to|cap(?:ped)?(?: \w+)? at) (?:the |a |an )?"
        + _NUMBER,
    ),
    row(
        "limit",
        "budget deadline limit quota cap maximum minimum max ceiling threshold timeout",
        r"\b(?:budget|deadline|limit|quota|cap|maximum|minimum|ceiling|threshold|timeout) (?:is|of|will be|stays|remains|must|should)\b",
        r"\b(?:budget|deadline|limit|quota|max|maximum|minimum)\s?[:=]",
    ),
    row(
        "limit",
        "more less longer fewer over above beyond tops most max maximum",
        r"\b(?:can['’]t|can ?not|must(?: not|n['’]t)|may not|should(?: not|n['’]t)|won['’]t|never|not to) (?:\w+ ){1,3}?(?:more|less|longer|fewer|over|above|beyond)(?: than)? (?:the |a |an )?"
        + _NUMBER,
        r"^(?!.{0,80}\b(?:takes?|took|was|were|got|is|are)\b).{0,80}?(?:\d|\b(?:ten|fifty|hundred|thousand))[^.,\n]{0,20}\b(?:tops|max|maximum|at (?:the )?(?:very )?most)\b\s*[.!]?$",
    ),
    row(
        "limit",
        "only exclusively solely",
        r"(?<!i )(?<!not )(?<!the )(?<!it )(?<!an )\bonly "
        + _ACTS
        + r"\b(?! (?:problem|issue|thing|question|difference|error|reason)\b)",
        r"\b(?:use|with|in|to|touch|change|return|using|yes|output) only\b",
        r"\b(?:exclusively|solely)\b",
    ),
    row(
        "limit",
        "monday tuesday wednesday thursday friday saturday sunday tomorrow tonight noon midnight eod end am pm week",
        r"\b(?:by|before|until|due|no later than) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon|midnight|eod|the end of|end of|next week|\d{1,2}(?::\d\d)?\s?(?:am|pm))\b",
    ),
    row(
        "choice",
        "not instead rather over place prefer preference standard opposed",
        r"\b(?:use|using|prefer|choose|pick|write|import|install|go with|call|run|take)\b[^.?\n]{1,80}?(?:\bnot\b|\binstead of\b|\brather than\b|\bin place of\b|\bover\b)",
        r"\b(?:instead of|rather than|as opposed to) \w+ing\b",
        _OPEN + r"prefer\b",
        r"\b(?:i|we)(?:['’]d| would)? (?:strongly |really )?prefer\b",
        r"\bmy (?:preference|standard)\b",
    ),
    row(
        "choice",
        "use using run write import install target",
        _OPEN
        + r"(?:use|using|run|write|import|install|target) (?:just|the (?:existing|same|standard|official)|our|my|python|node|java|typescript|pnpm|npm|yarn|uv|poetry|pip|tabs|spaces|utf|iso|utc)\b",
    ),
    row(
        "condition",
        "unless without",
        r"\bunless\b(?! (?:i['’]?m (?:mistaken|wrong)|it (?:is|was)))",
        r"\bwithout (?:my|our|first|explicit|prior|any|an?|the|new|extra|additional|further|approval|permission|consent|review\w*|\w+ing\b|\w+ (?:approval|sign-?off|permission|consent|review))\b",
    ),
    row(
        "condition",
        "before until first prior",
        r"\b(?:before|until|prior to) (?:you|i|we|any|committing|pushing|deploying|merging|changing|making|touching|deleting|editing|running|writing|starting|doing|releas\w+|deploys?|merges?|commits?)\b.{0,80}\b(?:ask|confirm|check|wait|run|show|tell|review|approve|verify)\w*",
        r"\b(?:ask|confirm|check|wait|run|show|tell|review|verify|always|stop)\w*\b.{0,60}\b(?:before|until)\b(?! (?:and|it|that)\b)",
        r"\b(?:ask|check with|tell|show) (?:me|us) first\b",
    ),
    row(
        "condition",
        "first before ok okay go approval blessing permission consent sign signoff doubt unsure sure stop abort",
        _OPEN
        + r"(?:show|run|send|ask|tell|give|check|clear) (?:me|us|\S+ (?:by|with|past|to) (?:me|us))\b[^.\n]{0,40}\bfirst(?=\s*(?:[.!,;]|$))",
        r"\bbefore (?:any|each|every|the|a|you|your) \w+,? (?:\w+ ){0,3}?(?:i|we) (?:want|need|have|would like) to (?:see|review|approve|check|read|sign)\b",
        r"\b(?:i|we) (?:want|need|would like) to (?:see|review|approve|check|read) [^.\n]{1,60}\bbefore (?:you\b|anything\b|(?:it|they) (?:goes?|is|are|gets?|ships?|leaves?)\b|we (?:push|merge|ship|deploy|release)\b)",
        r"\b(?:get|wait for|needs?|have|without|await) (?:my|our) (?:explicit )?(?:ok(?:ay)?|go(?:-ahead)?|approval|blessing|sign-?off|permission|consent)\b",
        r"\b(?:when|if) (?:in doubt|unsure|you(?: are|['’]re) (?:unsure|not sure|in doubt))\b",
        r"(?:^|[.;:!?]\s+)(?:if|when(?:ever)?)\b[^.,\n]{2,80}, (?:stop|abort) and (?:ask|tell|wait|report|let)\b",
    ),
    row(
        "condition",
        "now on onward onwards forward henceforth future subsequent further rest long whenever time",
        r"\bfrom (?:now|here|today|this point) on(?:wards?)?\b",
        r"\bgoing forward\b",
        r"\bhenceforth\b",
        r"\bfor (?:all|every) (?:future|subsequent|further)\b",
        r"\bfor the rest of\b",
        r"\bas long as\b",
        r"\bwhenever\b.{0,60},",
        r"\b(?:every|each) time (?:you|we)\b",
    ),
    row(
        "condition",
        "approval permission sign signoff consent confirmation review ask check",
        r"\b(?:needs?|requires?) (?:(?:my|our|explicit|prior|an?) )?(?:approval|permission|sign-?off|consent|confirmation|review)\b",
        r"\bask (?:me|us|first|for (?:permission|confirmation|approval))\b",
        r"\bcheck with me\b",
    ),
    row(
        "format",
        "answer answers reply replies respond response responses result results report reports summary summaries message messages write speak output outputs return format print produce give present document comment communicate talk",
        _OPEN
        + r"(?:answer|reply|respond|write|speak|output|return|format|print|produce|give|present|document|comment|communicate|talk)\b[^.\n]{0,40}?\b(?:in|as|using|with)\s+(?:only |plain |valid |pure |strict |a |an |the )?(?:"
        + _LANGUAGES
        + "|"
        + _FORMS
        + r")\b",
        r"\b(?:(?:output|response|answer|result|report|message)s?|repl(?:y|ies)|summar(?:y|ies)) (?:should|has to|have to|needs? to|is to|are to)\b",
        r"\bformat\s?[:=]",
    ),
    row(
        "format",
        "be spaces quotes speak talk write answer reply respond message messages name names",
        _OPEN
        + r"(?:be (?:brief|concise|terse|succinct|polite|formal)|use (?:single|double) quotes"
        + r"|(?:speak|talk|write|answer|reply|respond) (?:only )?(?:"
        + _LANGUAGES
        + r"))\b",
        r"\b(?:two|four|eight|2|4|8) spaces (?:per|of|for|each|as)\b",
        r"^(?:commit messages?|branch names?|variable names?)\s?:\s\S",
    ),
    row(
        "choice",
        "not only uses runs targets",
        r"^(?!(?:it|this|that|yes|no|sure|maybe|sorry|works?|done|good|fine|ok|nice|well|today|why|failed|working|true|false)\b)[\w`'-]+, not (?!(?:yet|sure|really|now|here|so|that|this|bad|good|working|me|you|us|\w+ly|\w+ing|\w+ed)\b)[\w`'-]+[.!]?$",
        r"\b(?:go|goes|belong|belongs) (?:to|in|into|on) [\w./`-]+, not [\w./`-]+",
        r"^[\w@/-]{2,30} only[.!]?$",
        r"\bthis (?:project|repo|repository|codebase) (?:uses|runs on|targets)\b(?! (?:too|a lot|up|about|more|less|the wrong))",
    ),
    row(
        "format",
        _LANGUAGES.replace("|", " ") + " camelcase pascalcase case json markdown",
        r"\b(?:in|only) (?:" + _LANGUAGES + r"),? (?:please|only)\b",
        r"\b(?:in|use) (?:snake_case|camelcase|kebab-case|pascalcase)\b",
        r"\b(?:json|markdown|" + _LANGUAGES + r") only\b",
    ),
    row(
        "name",
        "call name title named called",
        _OPEN
        + r"(?:call|name|title) (?:it|me|this|them|him|her|the \w+(?: \w+)?) (?!if|when|back|with|in\b|for|after|and|from|to\b|at\b|function|method|once|twice)[\w`'\"@./-]+",
        r"\bmy name is\b",
        r"\b(?:should|must|shall) be (?:called|named)\b",
    ),
    row(
        "prohibition",
        "allowed permitted authorized authorised supposed",
        r"\b(?:you|we|nobody|no one|agents?)(?:['’]re| are| is)?(?:n['’]t| not| never| only) (?:allowed|permitted|authori[sz]ed|supposed) to\b(?! (?:see|get|have) [^.\n]{1,80}\?)",
        r"\b(?:nobody|no one) is (?:allowed|permitted|authori[sz]ed|supposed) to\b",
        r"\byou(?:['’]re| are) (?:allowed|permitted|authori[sz]ed) to\b[^.\n]{1,80}\bonly\b",
    ),
    row(
        "prohibition",
        "can cannot won will accept tolerate approve",
        r"\bwe (?:can ?not|can['’]t) (?:add|introduce|use|change|break|touch|afford|risk|allow|drop|remove|upgrade|rename|deploy|push|ship|move|rely|depend|install|accept|store|log|expose|require|edit|delete|modify|lose|merge|spend)\b",
        r"\b(?:i|we) (?:won['’]t|will not|do not|don['’]t|can['’]t|can ?not) (?:accept|tolerate|approve)\b",
    ),
    row(
        "prohibition",
        "case whatever not never isn aren",
        r"\bin no case\b|^whatever (?:you do|happens)\b",
        r"\b(?:try|prefer|like you|want you|need you|asking you|better|best|careful) not to\b|\bbetter not (?!be\b)\w",
        r"\b(?:is|are)(?: not|n['’]t) (?:optional|negotiable|up for (?:debate|discussion|negotiation)|tolerated|wanted(?! (?:behaviou?r|effect|output|result)s?\b)|yours\b|up to you)\b",
        r"\b(?:is|are) (?:not|never) to be \w",
        r"^not (?:on|to|into|before|via) (?!my\b|windows|mac|linux|mobile|it\b|that\b|this\b|here)\S",
        r"\b(?:do|change|edit|touch|push|deploy|test|try|you (?:can|may))\b[^.\n]{0,60}\bbut not (?:on|to|in|into|the)\b",
    ),
    row(
        "prohibition",
        "stay keep hold lay easy enough leave nobody touches edits changes pushes deploys merges commits deletes back",
        _OPEN
        + r"(?:(?:stay|keep) (?:out of|away from|off|clear of)|keep (?:your )?(?:hands|fingers|paws) (?:off|out)|hold (?:off|back)\b|back off (?:from|the)\b|lay off (?:the )?\w|go easy on)\b",
        r"^enough (?:with|of) \w|\b(?:nobody|no one) (?:touches|edits|changes|pushes|deploys|merges|commits|deletes)\b",
        _OPEN + r"leave (?:\S+ ){1,6}?to (?:me|us)\b",
    ),
    row(
        "prohibition",
        "myself own mine me",
        r"\bi(?:['’]ll| will| want to| would like to|['’]d like to|['’]m going to|['’]d rather) (?!(?:be|see|understand|know|try|learn)\b)(?:\S+ ){1,6}?(?:myself|on my own)\b",
        r"\bi do (?:\S+ ){1,4}?myself\b|\b(?:is|are|stays?) (?:up to me|mine)\b(?![ -]\w)",
    ),
    row(
        "prohibition",
        "there",
        r"\bthere (?:should|must|may|can|shall) (?:be no|not be|never be)\b(?![^.\n]{1,80}, (?:so |but )?why (?:is|are) (?:there|it|they)\b)",
    ),
    row(
        "prohibition",
        "zero nothing",
        r"\bzero (?:new|extra|additional|external|third)\b|^nothing \S{1,30} (?:please|pls)\b|\band nothing (?:but|else|more)\b",
    ),
    row(
        "prohibition",
        "never",
        r"(?<!was )(?<!were )(?<!is )(?<!are )(?<!been )(?<!had )(?<!got )\bnever (?:in|on|to|into|with|from|during|without) \S",
    ),
    row(
        "prohibition",
        "treat careful caution beware hence therefore so",
        _OPEN
        + r"treat [^.\n]{1,60} as (?:an? )?(?:immutable|production|secret|confidential|private|read[- ]only|frozen|untrusted|sacred|final|external|public)\b",
        r"^(?:careful|caution|beware)\s?[:,!]\s?\S|\b(?:so|hence|therefore),? read[- ]only\b",
    ),
    row(
        "choice",
        "allergic allergy intolerant intolerance vegetarian vegan kosher halal gluten diabetic celiac coeliac wheelchair eat drink fly drive smoke wear like stand travel afford",
        r"\b(?:is|am|are|['’]m|['’]s|['’]re) (?:\w+ )?(?:allergic|(?:\w+[- ])?intolerant|(?:a )?vegetarian|(?:a )?vegan|diabetic|c(?:o)?eliac)\b|\b(?:allergy|intolerance) to\b|\b(?:nut|peanut|food|dairy|shellfish|egg|wheat) allergy\b|\b(?:kosher|halal|gluten[- ]free|wheelchair)\b",
        r"\bi (?:do not|don['’]t|never|won['’]t) (?:eat|drink|fly|drive|smoke|wear|like)\b(?! (?:how|that|it|this|when|what|the (?:idea|look|way)))",
        r"\bi (?:can['’]t|can ?not) (?:eat|drink|fly|drive|stand|travel|afford)\b",
    ),
    row(
        "limit",
        "only",
        _OPEN
        + r"(?:edit|change|touch|modify|work|use|read|write|test|commit|push|deploy|look|book|show|reply|format|run|fix|install|send|search) (?:[^.,\n]{1,60} )?only\b(?! (?:when|works?|fails?|one|\d))",
        r"^(?!.{0,80}\b(?:fails?|failed|happens?|occurs?|works|worked|passes|passed|loads|is|are|was|were|shows?|seen|breaks?|got|crash\w*|appears?|i|it|has|had|there)\b)[^.,\n]{2,60} only[.!]?$",
        r"^only (?!(?:some|one|two|three|few|half|that|this|these|it|the|when|if|a|an|\d+)\b)[\w-]+ (?!fails|works|breaks|crashes|helps|happens|knows|matters|passes|runs|shows)[\w-]+s[.!]?$",
        r"\bonly [^,\n]{1,30} (?:is|are) (?:supported|allowed|permitted|accepted|acceptable)\b",
    ),
    row(
        "limit",
        "max min ceiling maximum limit cap budget deadline one single",
        r"\b(?:max|min)\. ?\d|\bis (?:the|my|our) (?:absolute |hard |upper )?(?:ceiling|limit|maximum|max|cap|budget)\b(?!\s?\?)|^deadline\b(?! (?:passed|was|missed|exceeded))",
        r"^(?:one|a single) [\w -]{1,30}?(?:\bper \w+|\bat a time)[.!]?$",
    ),
    row(
        "duty",
        "needs need has have belong belongs stable green compatible deterministic offline",
        r"(?<!\bi )(?<!do we )(?<!do you )\b(?:has|have|needs?) to (?:work|run|build|compile|support|fit|pass|match)\b(?! (?:on|out) (?:it|this|that|what|why)| somehow\b|[^.\n]{1,80}\b(?:that|which)(?:['’]s| is) why (?:it|the|this|they)\b)",
        r"\bbelongs? (?:in|into|under) [\w./`-]",
        r"\b(?:stays?|remains?) (?:stable|green|compatible|backwards?[- ]compatible|deterministic|offline)\b",
    ),
    row(
        "duty",
        "each every",
        _OPEN
        + r"(?:run|test|lint|format|commit|push|squash|rebase|sign|update|document|check|review|bump|tag|translate|type|back up) (?:[^.\n]{0,40}\b(?:after|before|for|on|per|with) )?(?:each|every) \w",
    ),
    row(
        "duty",
        "get gets",
        r"^(?:all|each|every)\b [^.,\n]{1,40} gets? (?:type hints?|types|tests?|docstrings?|comments?|headers?|reviewed|translated|tested|documented|signed)\b",
    ),
    row(
        "condition",
        "squash rebase lint bump",
        _OPEN + r"(?:squash|rebase|lint|bump)\b[^.\n]{0,30}? before \w+ing\b",
    ),
    row(
        "choice",
        "branch worktree fork sandbox staging copy",
        _OPEN
        + r"(?:work|do (?:everything|it|this|that|all)|commit|push|develop|test|make (?:all |your |the )?changes)\b[^.,\n]{0,20}? (?:in|on|to|against) (?:an?|the|your|my|its own) (?:[\w-]+ )?(?:branch|worktree|fork|sandbox|staging|copy)\b",
    ),
    row(
        "choice",
        "tabs spaces use style convention policy standard guideline everywhere indent",
        r"\b(?:tabs,? not spaces|spaces,? not tabs)\b|\bindent (?:with|by)\b|\b(?:we|our \w+) (?:use|is|are|uses) (?:\d|two|four|eight) spaces\b",
        r"(?<!what )(?<!what is )(?<!what's )\bour (?:\w+ )?(?:style|convention|policy|standard|guideline) (?:is|says)\b|^[\w-]+(?: [\w-]+)? everywhere[.!]?$",
        _OPEN + r"use (?:the )?(?:v\d|version \d)",
    ),
    row(
        "condition",
        "anything anywhere everything everywhere except apart other provided providing condition",
        r"^(?:anything|anywhere|everything|everywhere) (?:but|except|besides|other than|apart from)\b(?!.{0,80}\b(?:works?|worked|fails?|failed|pass(?:es|ed)?|is|are|was|runs?|loads?|looks?|seems?)\b)",
        r"^(?:except|apart from|other than) [^,\n]{1,40}\b(?:you (?:can|may)|do)\b",
        r"(?:^|,\s)(?:provided|providing) (?:that |the |all )|\bon (?:the )?condition that\b",
    ),
)
