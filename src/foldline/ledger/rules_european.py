"""What makes a rule in German, French, Spanish, Portuguese, Italian, Dutch and Russian: a table for `rule_words`.

The basics only: words that hardly ever stand in a plain report of what happened. See `foldline.ledger.rules_english`
for how a row is to be read.
"""

from __future__ import annotations

from foldline.ledger.rule_words import Row, row

_START = r"(?:^|[,;:.!?¡¿(—–-]\s*)"

EUROPEAN: tuple[Row, ...] = (
    # German
    row(
        "prohibition",
        "darf darfst dürfen dürft soll sollen sollst sollte sollten",
        r"\b(?:darf|darfst|dürfen|dürft|soll|sollen|sollst|sollte|sollten) (?:\S+ ){0,6}?(?:nicht|nie|niemals|kein(?:s|e[nrms]?)?|nur)\b",
    ),
    row(
        "prohibition",
        "keinen keinesfalls niemals verboten vermeide",
        r"\bauf keinen fall\b|\bkeinesfalls\b|\bniemals\b|\bverboten\b|\bvermeide\b",
    ),
    row(
        "prohibition",
        "nicht kein keine keinen keinem keiner keines keins nie",
        r"\b(?:bitte|aber) (?:\S+ ){0,5}?(?:nicht|kein(?:s|e[nrms]?)?)\b|\bnicht (?:\S+ ){0,3}?\w{2,}en[.!,;]?$",
        _START
        + r"(?:verwende|benutze?|ändere?|lösche?|nutze|schreibe?|füge?|mach[et]?|fasse?|berühre?|verwend|nimm|lass)\b.{0,80}?\b(?:nicht|kein(?:s|e[nrms]?)?|nie)\b",
    ),
    row(
        "prohibition",
        "will wollen möchte möchten brauche brauchen",
        r"\b(?:ich|wir) (?:will|wollen|möchten?|brauchen?) (?:\S+ ){0,4}?(?:kein(?:s|e[nrms]?)?|nie|niemals)\b",
    ),
    row(
        "duty",
        "muss musst müssen müsst unbedingt stets immer achte stelle stell denke denk zwingend pflicht",
        r"\b(?:muss|musst|müssen|müsst|unbedingt|stets|zwingend|pflicht)\b|\bimmer\b(?! (?:noch|wieder|mehr))|\bachte (?:darauf|auf)\b|\bstelle? sicher\b|\bdenke? daran\b",
    ),
    row(
        "limit",
        "höchstens mindestens maximal spätestens nur ausschließlich budget innerhalb",
        r"\b(?:höchstens|mindestens|maximal|spätestens) \S|\bnur\b|\bausschließlich\b|\binnerhalb von\b",
    ),
    row(
        "choice",
        "statt anstatt anstelle bevorzuge lieber",
        r"\b(?:statt|anstatt|anstelle|bevorzuge|lieber)\b",
    ),
    row(
        "condition",
        "ohne bevor es außer ab nun zukunft erst",
        r"\bohne (?:(?:\S+ ){0,4}?zu |meine|vorher|rück|zustimmung|genehmigung|neue|weitere|zusätzliche)|\bbevor (?:du|sie|ihr)\b|\bes sei denn\b|\baußer wenn\b|\bab (?:jetzt|sofort)\b|\bvon nun an\b|\bin zukunft\b|\berst (?:nach|wenn)\b",
    ),
    row(
        "format",
        "antworte antwort schreibe schreib sprich",
        r"\b(?:antworte?|schreibe?|sprich)\b[^.\n]{0,30}\b(?:auf|in|als)\b",
    ),
    row(
        "prohibition",
        "finger weg selbst allergisch vegetarier keine",
        r"\bfinger (?:weg )?von\b|\bmache? ich (?:\S+ ){0,3}?selbst\b|\bich (?:mache|übernehme) (?:\S+ ){1,5}?selbst\b|\ballergisch\b|\bvegetarier\b|^keine (?:neuen|weiteren|zusätzlichen|externen)\b",
    ),
    # French
    row(
        "prohibition",
        "ne n faut doit doivent devez dois",
        r"(?:^|[,;:.!?—–-]\s*|\b(?:et|mais|merci de|veuillez|de)\s+)(?:ne |n['’])(?:\S+ ){0,3}?(?:pas|jamais|rien|plus|aucune?)\b|\bne (?:pas|jamais|plus) \w+|\b(?:doit|doivent|devez|dois|faut|ne (?:\S+ )?(?:peut|peuvent)) (?:pas|jamais)\b",
    ),
    row(
        "prohibition",
        "jamais interdit interdite interdits interdites évite évitez éviter",
        r"\bjamais\b|\binterdite?s?\b|\bévite[zr]?\b",
    ),
    row(
        "duty",
        "toujours faut doit doivent devez dois obligatoire obligatoires impérativement assure assurez veille veillez veiller oublie oubliez oublier respecte respectez respecter",
        r"\b(?:toujours|il faut|doit|doivent|devez|dois|impérativement)\b|\bobligatoires?\b|\bassure(?:z-vous|-toi)\b|\bveille[zr]?\b|\bn['’]oublie[zr]?\b|\brespecte[zr]?\b",
    ),
    row(
        "limit",
        "au maximum minimum uniquement seulement exclusivement avant moins plus",
        r"\b(?:au (?:plus|moins|maximum|minimum)|uniquement|seulement|exclusivement|avant (?:le|lundi|mardi|mercredi|jeudi|vendredi)|(?:moins|plus) de \d)\b",
    ),
    row(
        "choice",
        "plutôt lieu préfère préférez préférer",
        r"\bplutôt que\b|\bau lieu de\b|\bpréf(?:ère|ére[zr])\b",
    ),
    row(
        "condition",
        "sans avant sauf désormais dorénavant moins partir",
        r"\bsans (?:mon|ma|me|mes|aucun|autorisation|demander|\w+er\b|\w+ir\b)|\bavant de\b|\bsauf si\b|\bà moins que\b|\b(?:désormais|dorénavant)\b|\bà partir de maintenant\b",
    ),
    row(
        "format",
        "réponds répondez écris écrivez parle parlez",
        r"\b(?:réponds|répondez|écris|écrivez|parlez?)\b[^.\n]{0,30}\ben\b",
    ),
    row(
        "prohibition",
        "pas allergique allergiques tranquille tranquilles moi végétarien végétarienne végétariens végétariennes",
        r"^pas de (?:nouve|dépendance|commit|mock|push)|\ballergiques?\b|\bvégétarien(?:ne)?s?\b|\btranquilles?[.!]?$|\bc['’]est moi qui\b",
    ),
    # Spanish
    row(
        "prohibition",
        "no",
        r"(?:^|[,;:.!¡¿?—–-]\s*|\b(?:y|pero|favor,?|que) )no (?!puedo|puedes|tienes|sabes|quieres|eres|entiendes|estás|funciona|hay|est|pasa|need|then|than|more)\w+(?:es|as|en|an|éis|áis)\b",
    ),
    row(
        "prohibition",
        "nunca jamás prohibido prohibida prohibidos prohibidas evita evitar evite",
        r"\b(?:nunca|jamás)\b|\b(?:prohibid[oa]s?|evita|evitar|evite)\b",
    ),
    row(
        "duty",
        "siempre debe debes deben debemos deberá obligatorio obligatoria asegúrate recuerda tiene mantén",
        r"\b(?:siempre|debe|debes|deben|debemos|deberá|obligatori[oa]|asegúrate|recuerda|mantén)\b|\btiene que\b",
    ),
    row(
        "limit",
        "máximo mínimo mucho menos sumo únicamente solamente solo sólo presupuesto antes",
        r"\bcomo (?:máximo|mínimo|mucho)\b|\b(?:al menos|a lo sumo)\b|\b(?:únicamente|solamente|s[oó]lo|presupuesto)\b|\bmenos de \d|\bantes del? (?:lunes|martes|miércoles|jueves|viernes|\d)",
    ),
    row("choice", "lugar vez prefiere prefiero", r"\ben (?:lugar|vez) de\b|\bprefier[eo]\b"),
    row(
        "condition",
        "sin antes menos salvo partir adelante",
        r"\bsin (?:mi|que|permiso|preguntar|consultar|\w+[aei]r)\b|\bantes de \w+r\b|\ba menos que\b|\bsalvo que\b|\ba partir de ahora\b|\bde ahora en adelante\b",
    ),
    row(
        "format",
        "responde contesta escribe habla",
        r"\b(?:responde|contesta|escribe|habla)\b[^.\n]{0,30}\ben\b",
    ),
    row(
        "prohibition",
        "nada alérgico alérgica alérgicos alérgicas yo vegetariano vegetariana vegetarianos vegetarianas",
        r"^nada de \w|\balérgic[oa]s?\b|\bvegetarian[oa]s?\b|\b(?:los|las|el|la) \w+ (?:los|las|lo|la) hago yo\b",
    ),
    # Portuguese
    row(
        "prohibition",
        "não",
        r"(?:^|[,;:.!?—–-]\s*|\b(?:e|mas|favor,?|que) )não (?!consigo|sei|funciona|é\b|está|tem|tenho|há|foi|quero|entendi|deu|era)\w+(?:e|a|em|am|ar|er|ir|es|as)\b",
    ),
    row("prohibition", "proibido proibida proibidos proibidas evite", r"\bproibid[oa]s?\b|\bevite\b"),
    row(
        "duty",
        "sempre deve devem devemos deverá obrigatório obrigatória certifique lembre tem mantenha garanta",
        r"\b(?:sempre|deve|devem|devemos|deverá|obrigatóri[oa]|mantenha|garanta)\b|\bcertifique-se\b|\blembre(?:-se)?\b|\btem que\b",
    ),
    row(
        "limit",
        "máximo mínimo menos somente apenas unicamente orçamento",
        r"\bno (?:máximo|mínimo)\b|\bpelo menos\b|\b(?:somente|apenas|unicamente|orçamento)\b",
    ),
    row("choice", "vez prefira prefiro", r"\bem vez de\b|\bprefir[ao]\b"),
    row(
        "condition",
        "sem menos partir agora daqui antes",
        r"\bsem (?:minha|meu|que|permissão|perguntar|\w+[aei]r)\b|\ba partir de agora\b|\bde agora em diante\b|\bdaqui para (?:a )?frente\b|\bantes de \w+r\b",
    ),
    row("format", "responda escreva fale", r"\b(?:responda|escreva|fale)\b[^.\n]{0,30}\bem\b"),
    # Italian, Dutch
    row(
        "prohibition",
        "non mai vietato evita nooit verboden",
        _START
        + r"non (?!funziona|so\b|è|ho|riesco|capisco)\w+(?:are|ere|ire|te|i|a)\b|\b(?:vietato|evita|nooit|verboden)\b|\bmai\b(?=\s+\w+re\b)",
    ),
    row(
        "duty",
        "deve devono sempre assicurati altijd moet moeten",
        r"\b(?:deve|devono|assicurati|altijd|moet|moeten)\b",
    ),
    row(
        "limit",
        "massimo almeno soltanto solo alleen hoogstens minstens",
        r"\bal massimo\b|\b(?:almeno|soltanto|alleen|hoogstens|minstens)\b",
    ),
    row("choice", "invece plaats", r"\binvece di\b|\bin plaats van\b"),
    row(
        "condition",
        "senza prima zonder voordat tenzij",
        r"\bsenza \w+re\b|\bprima di \w+re\b|\bzonder (?:te|mijn)\b|\bvoordat\b|\btenzij\b",
    ),
    # Russian
    row(
        "prohibition",
        "не нельзя никогда запрещено запрещается случае",
        r"(?:^|[,;:.!?—–-]\s*|\b(?:и|но|пожалуйста,?|а) )не (?!могу|знаю|работает|понимаю|хочу|вижу|нужно)\w+(?:й|йте|и|ите|ь|ьте)\b|\b(?:нельзя|никогда|запрещено|запрещается)\b|\bни в коем случае\b",
    ),
    row(
        "duty",
        "всегда обязательно должен должна должно должны убедись убедитесь помни помните строго",
        r"\b(?:всегда|обязательно|должен|должн[аоы]|убедись|убедитесь|помни|помните|строго)\b",
    ),
    row(
        "limit",
        "только более менее больше меньше минимум максимум бюджет",
        r"\bтолько\b|\bне (?:более|менее|больше|меньше)\b|\b(?:минимум|максимум|бюджет)\b",
    ),
    row("choice", "вместо лучше", r"\bвместо\b"),
    row(
        "condition",
        "без прежде перед отныне момента",
        r"\bбез (?:моего|разрешения|спроса|согласования)\b|\bпрежде чем\b|\bперед тем как\b|\bотныне\b|\bс этого момента\b",
    ),
    row(
        "format", "отвечай отвечайте пиши пишите", r"\b(?:отвечай|отвечайте|пиши|пишите)\b[^.\n]{0,30}\bна\b"
    ),
)
