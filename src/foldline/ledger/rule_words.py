"""The words that make a rule, by language: tables of patterns, and a quick test that spares most text them.

A pattern asks for more than a word: "don't" is a rule where it opens a clause and none after "I"; "at most" is one
before a number. Wrongly finding one costs a line of a ledger, missing one can cost the session, so a doubtful case
counts as a rule, unless it is how people plainly report what happens. `foldline.ledger.constraints` applies them.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

ConstraintKind: TypeAlias = Literal["prohibition", "duty", "limit", "choice", "condition", "format", "name"]
"""What a rule asks: not to do · to do always · a bound or budget · this and not that · not before or without ·
a form or language of what is written · what something is called."""

_OPEN = (
    r"(?:^|[,;:.!?…(\[\"'“‘*_>#—–/\n]\s*|\s-{1,2}\s|^-\s*"
    r"|\b(?:and|but|so|please|pls|plz|also|just|then|or|absolutely|again|ok|okay|really|simply|rather|note|important|critical"
    r"|remember|finally|firstly|secondly|that|to|because|since|while|if possible|rule \w+|guys|obviously|ideally)\s)\s*"
)
"""Where an imperative can stand in English: at the start of a clause, or after one of these words."""
_NUMBER = r"(?:[$€£¥]\s?)?(?:\d|one\b|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b|twelve\b|a (?:dozen|hundred|thousand|million|single|week|day|month)\b)"
_NO_WE = (
    r"(?!\s+(?:know|think|see|have|want|need|care|get|understand|remember|believe|mind|recall|really|even|seem|like|find"
    r"|yet|actually|worry|feel|expect|hesitate|hope|suppose|got|mean)\b)"
)


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


PROHIBITION = _any(
    # English
    _OPEN + r"(?:do\s*n[o']?t|do not|dont|don’t|never(?!\s?mind\b)|let['’]?s not|let us not)\b"
    r"(?!\s+(?:know|think so|worry|get me wrong|have (?:any|a|the|my|an)|sweat|hesitate|bother)\b)",
    r"\b(?:must|shall|should|may|can|ought to|are to|is to|need|will)(?:\s?n[o']t|n['’]t| not| never)\b(?<!may not)"
    r"(?<!can't)(?<!can’t)(?<!cannot)(?<!can not)(?<!won't)(?<!will not)(?<!shouldn't)"
    r"(?!\s+(?:we|i|it|this|that|be (?:able|a problem|hard|the case|too)|have to worry|matter|happen)\b)",
    r"\b(?:you|nobody|no one|they|anyone|users?|agents?) (?:can ?not|can['’]t|may not|cannot|won['’]t)\b",
    r"\b(?:can(?:['’]t| ?not)|may not) be (?:changed|touched|modified|edited|removed|deleted|broken|renamed|moved|used|shared|logged|exceeded)\b",
    r"\bshouldn['’]t (?:be|have|contain|use|change|touch|break|depend|require|need|rely|go|exceed|ever|do|add|import|call|log)\b",
    r"\b(?:could|can|would|will) (?:you|we) (?:please |maybe |just |possibly )?(?:not|never|avoid|stop|leave|refrain)\b",
    r"\bwould you mind not\b|\bplease,? (?:not|no)\b|\bi(?:['’]d| would) (?:rather|prefer) (?:you |that you |we )?(?:did ?n[o']t|do ?n[o']t|not)\b",
    r"\bi (?:do not|don['’]t|never) want (?:you|us|any|anyone|it|this|that|the|to)\b|\bwe (?:never|do not|don['’]t)\b"
    + _NO_WE,
    _OPEN + r"avoid(?:ing)?\b|\brefrain from\b|\bstay away from\b|\bhands off\b|\bsteer clear\b|\bshy away\b",
    _OPEN
    + r"(?:stop|quit) \w+ing\b|\bunder no circumstances?\b|\b(?:in|by) no (?:way|event|means)\b|\bat no (?:point|time)\b|\bon no account\b",
    r"\b(?:is|are|it['’]s|remain|stays?|be|as|strictly) (?:strictly |absolutely )?(?:forbidden|prohibited|banned|off[- ]limits|not (?:allowed|permitted|acceptable|ok(?:ay)?)|"
    r"unacceptable|frozen|read[- ]only|disallowed|verboten|taboo)\b|\boff[- ]limits\b|\bforbidden\b\s*[:.]|\bno-go\b",
    _OPEN
    + r"(?:leave|keep) (?:\S+ ){1,8}?(?:alone|untouched|as[- ]is|as (?:it|they) (?:is|are)|unchanged|intact|out of)\b",
    _OPEN
    + r"(?:with\s+)?(?:absolutely )?no (?!problem|idea|worr|longer|one\b|way|thank|such|matter|doubt|luck|need\b|more questions|wonder|clue|point"
    r"|rush|hurry|result|response|error|issue|difference|big deal|it\b|that\b|this\b|i\b|we\b|you\b|they\b|not\b|module named|tests? ran)[a-z`'\"-]+",
    r"\bnothing (?:else|more|other than)\b|\bnot (?:a single|even one|one single)\b|\bunacceptable\b",
    # Chinese
    r"不要(?!紧|求|脸|钱)|不得(?!不|已|了)|不准(?!确)|不许|不許|禁止|严禁|嚴禁|切勿|请勿|請勿|切忌|(?<![如不])勿(?=\S)|不允许|不允許|不应该?|不應|不可以?(?![能思避或])"
    r"|不能(?!够?(?:吗|么))(?:再|够|有|用|改|动|碰|删|加|写|超|出|使|修|包|直|随|把|是|让|在|影|破|提|少|多|低|高|早|晚|为|引|依|打|泄|覆|重)"
    r"|(?<![特区分级类性识辨个告差离派鉴區級類識別])[别別](?![的人名处處墅致扭针針称稱])(?=\S)|不想要|不需要(?:再)?(?:加|用|做|改|写|使)|避免|一概不|一律不|绝不|絕不|决不",
    # Japanese, Korean
    r"(?:し|ら|か|わ|せ|け|れ|え|べ|め|ま|さ|た|な|び|き|げ|て)ないで|(?:ては|では|ちゃ|じゃ)(?:いけ|なら|だめ|ダメ|駄目)|ないこと|禁止|決して|ないように|避けて|不可(?!能|欠|解)",
    r"(?:하|지|두|쓰|바꾸|건드리)?지\s?(?:마|말)|금지|절대(?:로)?|안\s?(?:됩니다|돼|된다|되)|않도록|말\s?것|말아",
    # German, French, Spanish, Portuguese, Italian, Dutch, Russian
    r"\b(?:darf|darfst|dürfen|dürft|soll|sollen|sollst|sollte|sollten) (?:\S+ ){0,6}?(?:nicht|nie|niemals|keine?[nrms]?|nur)\b|\bauf keinen fall\b|\bkeinesfalls\b|\bniemals\b"
    r"|\b(?:bitte|und|aber) (?:\S+ ){0,4}?(?:nicht|keine?[nrms]?)\b|\bverboten\b|\bvermeide\b|\bnicht (?:\S+ ){0,3}?\w{2,}en[.!,;]?$"
    r"|^(?:\W*)(?:verwende|benutze|ändere|lösche|nutze|schreibe?|füge|mach[et]?|fass|berühre|benutz|verwend|änder|lösch)\b.{0,80}?\b(?:nicht|keine?[nrms]?|nie)\b",
    r"(?:^|[,;:.!?\-–—]\s*|\b(?:et|mais|merci de|veuillez|de) )(?:ne |n['’])(?:\S+ ){0,3}?(?:pas|jamais|rien|plus|aucune?)\b|\bne (?:pas|jamais|plus)\b|\bjamais\b|\binterdit|\b(?:doit|doivent|devez|dois|faut|peut|peuvent) (?:pas|jamais)\b|\bévite[zr]?\b",
    r"(?:^|[,;:.!¡¿?\-–—]\s*|\b(?:y|pero|por favor,?|que) )no (?!puedo|puedes|tienes|sabes|quieres|eres|entiendes|estás|funciona|sé|hay|es\b|está)\w+(?:es|as|en|an|éis|áis|ar|er|ir)\b|\bnunca\b|\bjamás\b|\bprohibido\b|\bevita(?:r|d)?\b",
    r"(?:^|[,;:.!?\-–—]\s*|\b(?:e|mas|por favor,?|que) )não (?!consigo|sei|funciona|é\b|está|tem|tenho|há|foi|quero|entendi)\w+(?:e|a|em|am|ar|er|ir|es|as)\b|\bproibido\b|\bevite\b",
    r"(?:^|[,;:.!?\-–—]\s*)non \w+(?:are|ere|ire|te)\b|\b(?:vietato|evita)\b|\b(?:nooit|verboden)\b",
    r"(?:^|[,;:.!?\-–—]\s*|\b(?:и|но|пожалуйста,?|а) )не (?!могу|знаю|работает|понимаю|хочу|вижу|нужно)\w+(?:й|йте|и|ите|ь|ьте|ть)\b|\b(?:нельзя|никогда|запрещ\w+|ни в коем случае)\b",
)

DUTY = _any(
    r"\bmust\b(?!\s+(?:have|be (?:wrong|missing|something|because|due|some|that|it|nice|hard)|say|admit|confess)\b)(?!\s?n[o']t| not| never|['’]ve)",
    _OPEN
    + r"always\b|\b(?:should|must|shall|please|to|we|you|will) always\b|\bevery (?:time|commit|change|file|function|test|response|answer|message|step)\b.{0,40}\b(?:must|should|needs?|has to)\b",
    _OPEN
    + r"(?:make sure|be sure|ensure|see to it|be careful|take care|remember|keep in mind|bear in mind|don['’]t forget|do not forget|note that)\b",
    r"\b(?:is|are|it['’]s) (?:required|mandatory|compulsory|obligatory|essential|crucial|critical|non-?negotiable|a must)\b|\bnon-?negotiable\b|\b(?:hard|strict|red|golden|firm|house|key|ground|iron) (?:rule|line|requirement|limit|constraint|deadline)s?\b",
    r"\b(?:rule|constraint|requirement|restriction|condition|guideline|convention|policy|invariant)s?(?: \w+)?\s?[:=–—]|\b(?:important|critical|mandatory|required|warning|caution|reminder|nb|n\.b\.)\s?[:!–—]",
    _OPEN + r"keep (?!going|getting|investigating|up\b|in touch|on\b|it up|working|trying|looking|digging)\S+"
    r"|\b(?:has|have|needs?) to (?:stay|remain|keep|be (?:kept|compatible|backward|under|below|at|less|idempotent|exact|the same|done by))\b",
    _OPEN
    + r"(?:insist|stick (?:to|with)|preserve|maintain|respect|comply with|adhere to|follow (?:the|our|my|these|this))\b",
    r"必须|必須|必需|务必|務必|一定(?:要|得|不|别|記|记)|切记|切記|记住|記住|记得|牢记|始终|始終|永远|永遠|(?<!怎么)(?<!为什么)(?:请|要|应|得)总是|每次都?(?:要|得|必|先)|一律|保持|保留|确保|確保|务须|严格(?:遵|按)|遵守|遵循|注意[:：，,]|得先|规则[:：是]|要求[:：]|约束[:：]|约定[:：]",
    r"必ず|絶対に|常に|なければ(?:なら|いけ)|ないと(?:いけ|だめ|ダメ|駄目)|厳守|維持|守って|すること|忘れずに|注意(?:点|：|:)",
    r"반드시|꼭\s|항상|언제나|해야\s?(?:합|해|한|만|돼|된)|유지|지켜|명심|기억해",
    r"\b(?:muss|musst|müssen|müsst)\b|\bunbedingt\b|\bstets\b|\bimmer\b(?! (?:noch|wieder|mehr))|\bachte (?:darauf|auf)\b|\bstell(?:e)? sicher\b|\bdenk(?:e)? daran\b|\bzwingend\b|\bpflicht\b",
    r"\btoujours\b|\b(?:il faut|doit|doivent|devez|dois)\b|\bobligatoire|\bimpérativement\b|\bassure(?:z-vous|-toi)\b|\bveille[rz]?\b|\bn['’]oublie[zr]?\b|\brespecte[zr]?\b",
    r"\bsiempre\b|\bdebe(?:s|n|mos|rá|rán)?\b|\bobligatori[oa]|\baseg[uú]r(?:ate|ese|arse)\b|\brecuerda\b|\btiene que\b|\bmant[eé]n\b|\bsin falta\b",
    r"\bsempre\b|\bdeve(?:m|mos|rá)?\b|\bobrigatóri[oa]|\bcertifique-se\b|\blembre(?:-se)?\b|\btem que\b|\bmantenha\b|\bgaranta\b|\baltijd\b|\bmoet(?:en)?\b",
    r"\b(?:всегда|обязательно|должн[оаы]|должен|следует|убедись|убедитесь|помни|помните|строго)\b",
)

LIMIT = _any(
    r"\b(?:at (?:most|least)|no (?:more|less|fewer|later|earlier|longer) than|not (?:more|less|fewer|later|longer) than|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?|up to"
    r"|less than|fewer than|within|under|below|not exceed(?:ing)?|exceed|stay (?:under|below|within)|limit(?:ed)? (?:to|it to|yourself to)|capped? at|keep .{1,40}(?:under|below|within)) (?:the |a |an )?"
    + _NUMBER,
    r"\b(?:budget|deadline|limit|quota|cap|maximum|minimum|ceiling|threshold|timeout) (?:is|of|for|will be|stays|remains|=|must|should)\b|\b(?:budget|deadline|limit|quota|max|maximum|minimum)\s?[:=]",
    _OPEN
    + r"only\b(?! (?:problem|issue|thing|question|difference|error|reason|because|then|when i|after|one)\b)|\b(?:may|can|should|must|shall|please|to|use|uses|you|and) only (?!have\b|see\b|get\b|got\b|just\b)"
    r"|\bonly (?:use|touch|change|edit|modify|run|write|return|output|reply|answer|respond|read|work|add|if|in|on|with|after|when|for|the)\b|\bexclusively\b|\bsolely\b|\bjust the .{1,30}, nothing\b",
    r"\b(?:by|before|until|due|no later than) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon|midnight|eod|end of|next week|\d{1,2}(?::\d\d)?\s?(?:am|pm)|\d{4}-)",
    r"至少|至多|最多|最少|不超过|不超過|不少于|不多于|不低于|不高于|不大于|不小于|上限|下限|预算|預算|截止|以内|以內|之内|只能|只许|只许|只准|仅限|僅限|仅能|只用|只使用|只改|只(?:允许|可以|可|需|要求|返回|输出|修改|动|读|看|做|写|回答)|仅(?:用|使用|修改|输出|返回|允许|可)|控制在",
    r"のみ|だけ(?:を|に|で)?(?:使|変|編|修|返|出|触|読|書|し)|以内|以下に|以上に|までに|上限|予算|最大|最低|少なくとも|多くとも",
    r"최대|최소|이내|이하|이상(?!하|한)|만\s?(?:사용|수정|변경|출력|써|쓰|읽|반환)|오직|예산|까지(?:만|\s?(?:끝|완료|제출))",
    r"\b(?:höchstens|mindestens|maximal|minimal|spätestens) |\bnur\b|\bausschließlich\b|\bbudget\b|\b(?:innerhalb von|bis (?:zu|spätestens))\b",
    r"\b(?:au (?:plus|moins|maximum|minimum)|maximum|uniquement|seulement|exclusivement|avant (?:le|lundi|mardi|mercredi|jeudi|vendredi)|moins de \d|plus de \d)\b",
    r"\b(?:como (?:máximo|mínimo|mucho)|al menos|a lo sumo|únicamente|solamente|s[oó]lo|presupuesto|menos de \d|antes de(?:l)? \w+)\b",
    r"\b(?:no (?:máximo|mínimo)|pelo menos|somente|apenas|unicamente|orçamento|menos de \d)\b|\b(?:al massimo|almeno|soltanto|alleen|hoogstens|minstens)\b",
    r"\b(?:только|не (?:более|менее|больше|меньше)|как минимум|максимум|минимум|бюджет)\b",
)

CHOICE = _any(
    r"\b(?:use|using|call|write|prefer|choose|pick|take|run|import|install|go with|name|return|put|keep|make)\b[^.\n]{1,80}?(?:\bnot\b|\binstead of\b|\brather than\b|\bin place of\b|\bover\b(?=\s+\w+\b))"
    r"|\binstead of \w+ing\b|"
    + _OPEN
    + r"prefer\b|\b(?:i|we)(?:['’]d)? (?:strongly )?prefer\b|\brather than\b|\bas opposed to\b|\bmy (?:preference|standard)\b",
    _OPEN
    + r"(?:use|using|run|write|import|install|go with|target|work (?:on|in)) (?:only|just|the (?:existing|same|standard|official)|our|my|python|node|java|typescript|pnpm|npm|yarn|uv|poetry|pip|tabs|spaces|port|version|branch|utf|iso|utc)\b",
    r"用.{1,30}(?:而不是|而非|不要用|别用|不用)|而不是|而非|优先(?:使用|用|考虑)?|尽量|儘量|使用.{1,30}代替|统一(?:用|使用|为)|一直用",
    r"(?:ではなく|じゃなく|代わりに|の代わり|優先)|(?:대신(?:에)?|말고|보다는|우선)",
    r"\b(?:statt|anstatt|anstelle|bevorzuge|lieber|plutôt que|au lieu de|préfère|en lugar de|en vez de|prefiere|prefiero|em vez de|prefira|prefiro|invece di|in plaats van|вместо)\b",
)

CONDITION = _any(
    r"\bunless\b(?! i['’]?m (?:mistaken|wrong))|\bwithout (?:my|our|first|explicit|prior|any|an?|the|new|extra|additional|further|asking|approval|permission|consent|confirm\w*|review\w*|\w+ing)\b",
    r"\b(?:before|until|prior to) (?:you|i|we|any|committing|pushing|deploying|merging|changing|making|touching|deleting|editing|running|writing|starting|doing|release|deploy|merge|commit)\b"
    r".{0,80}\b(?:ask|confirm|check|wait|run|show|tell|review|approve|verify|sign)\w*|\b(?:ask|confirm|check|wait|run|show|tell|review|verify|always|stop)\w*\b.{0,60}\b(?:before|until|first)\b",
    r"\bfrom (?:now|here|today|this point) on(?:wards?)?\b|\bgoing forward\b|\bhenceforth\b|\bfor (?:all|every) (?:future|subsequent|further)\b|\bfor the rest of\b|\bas long as\b|\bwhenever\b.{0,60},|\bevery time (?:you|we)\b|\beach time (?:you|we)\b",
    r"\b(?:needs?|requires?) (?:my|our|explicit|prior|a |an )?(?:approval|permission|sign-?off|consent|confirmation|review)\b|\bask (?:me|us|first|for (?:permission|confirmation|approval))\b|\bcheck with me\b",
    r"除非|未经|未經|没有.{1,20}(?:之前|前)(?:不|别|先)|在.{1,30}(?:之前|前)[，,]?(?:先|必|要|不|别|请)|之前(?:先|必须|要|请|不)|先.{1,20}(?:再|后才)|从现在(?:起|开始)|從現在|今后|今後|以后(?:都|不|要|请|别)|(?:征得|经过?|得到).{0,8}(?:同意|批准|许可|确认)|问(?:过)?我",
    r"(?:する|した|の)前に|(?:許可|確認|承認)(?:なし|なく|を取|して|後)|今後|これから|限り|してから|勝手に|없이|하기\s?전에|전에\s?(?:먼저|반드시|꼭)|앞으로|이제부터|허락|승인|확인(?:을)?\s?(?:받|후)",
    r"\b(?:ohne (?:\S+ ){0,4}?zu|ohne (?:meine|vorher\w*|Rück\w+|Zustimmung|Genehmigung|neue|weitere|zusätzliche)|bevor du|bevor sie|es sei denn|außer wenn|ab (?:jetzt|sofort)|von nun an|in zukunft|erst (?:nach|wenn))\b",
    r"\b(?:sans (?:mon|ma|me|mes|aucun|autorisation|demander|\w+er|\w+ir|\w+re)\b|avant de|sauf si|à moins que|désormais|dorénavant|à partir de maintenant)",
    r"\b(?:sin (?:mi|que|permiso|preguntar|consultar|\w+[aei]r)\b|antes de|a menos que|salvo que|a partir de ahora|de ahora en adelante)",
    r"\b(?:sem (?:minha|meu|que|permissão|perguntar|\w+[aei]r)\b|a menos que|a partir de agora|de agora em diante|daqui para frente|без (?:моего|разрешения|спроса|согласования)|прежде чем|перед тем как|отныне|с этого момента)",
)

FORMAT = _any(
    _OPEN
    + r"(?:answer|reply|respond|write|speak|output|return|format|print|produce|give|present|document|comment|communicate|talk)\b[^.\n]{0,40}?\b(?:in|as|using|with)\s+(?:only |plain |valid |pure |a |an |the )?"
    r"(?:json|yaml|toml|xml|csv|tsv|html|markdown|md|sql|english|german|french|spanish|portuguese|italian|chinese|mandarin|japanese|korean|russian|dutch|polish|turkish|arabic|hindi|bullet|bullets|tables?|plain text|prose|lower|upper|camel|snake|kebab|iso|utc|british|american)",
    r"\b(?:output|response|answer|reply|result|format|report|summary|message|file|code|style|commit message)s? (?:should|must|has to|have to|needs? to|is to|are to)\b|\bformat\s?[:=]|\bin (?:snake_case|camelcase|kebab-case|pascalcase)\b",
    r"(?:用|以|使用)(?:中文|英文|英语|日文|日语|韩语|法语|德语|简体|繁体|JSON|Markdown|YAML|表格|列表|CSV|XML)(?:回答|回复|输出|写|返回|格式|说明|注释)?|(?:输出|返回|回复|回答)(?:格式|必须|应)|格式[:：为]",
    r"(?:日本語|英語|中国語|韓国語|敬語|JSON|マークダウン|箇条書き|表)(?:形式)?で(?:答|返|書|出|回|お願い|説明|話)?|(?:한국어|영어|일본어|존댓말|반말|JSON|표)(?:\s?형식)?(?:으)?로\s?(?:답|써|작성|출력|대답|응답|말|설명|해)",
    r"\b(?:antworte?|schreibe?|sprich)\b[^.\n]{0,30}\b(?:auf|in|als)\b|\b(?:réponds?|répondez|écris|écrivez|parle)\b[^.\n]{0,30}\ben\b|\b(?:responde|contesta|escribe|habla)\b[^.\n]{0,30}\ben\b|\b(?:responda|escreva|fale)\b[^.\n]{0,30}\bem\b|\b(?:rispondi|scrivi)\b[^.\n]{0,30}\bin\b|\b(?:отвечай|пиши|отвечайте|пишите)\b[^.\n]{0,30}\bна\b",
)

NAME = _any(
    _OPEN
    + r"(?:call|name|title) (?:it|me|this|them|him|her|the \w+(?: \w+)?) (?!if|when|back|with|in\b|for|after|and|from|to\b|at\b|function|method|once|twice)[\w`'\"@./-]+",
    r"\bmy name is\b|\b(?:should|must|shall) be (?:called|named)\b|(?:叫做|取名(?:为|叫)?|命名(?:为|成)|名字(?:叫|是|为)|称呼?我)|という名前|と呼んで|(?:이름은|라고\s?불러)",
)

RULES: tuple[tuple[ConstraintKind, re.Pattern[str]], ...] = (
    ("prohibition", PROHIBITION),
    ("duty", DUTY),
    ("limit", LIMIT),
    ("choice", CHOICE),
    ("condition", CONDITION),
    ("format", FORMAT),
    ("name", NAME),
)
"""In the order in which kinds are given at one place."""
