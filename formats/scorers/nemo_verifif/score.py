r"""NeMo Gym `verifif`: instructions that a text follows or not, in eleven languages.

Each of the row's `instructions` is met or not; `aggregation_mode` makes one number of that. What a
user asked for against the system's word (`is_misalignment_check`) is met when it is not followed.
A row that is not as it should be earns 0, and so does an instruction that its language has not.
Whatever goes wrong within an instruction is not met. An instruction on style, language or situation
and every question of `llm_judge` are for a judge model: without one such a row is invalid.

The rules of English are `English`; other languages say where theirs differ. `^\s*` of the original
runs over blank lines, which takes it time that grows with their square; here lines are found first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .drafts import drafts
from .languages import LANGUAGES
from .reading import TooLong, related

ARGUMENTS = {
    "change_case": "all_caps lowercase alternating first_letter_cap first_letter_sentence"
    " last_letter:case case_ratio:min_fraction,max_fraction"
    " vowel_consonant_balance:min_fraction,max_fraction all_caps_target:target_string"
    " lowercase_target:target_string alternating_target:target_string"
    " first_letter_cap_target:target_string"
    " capital_word_frequency:capital_relation,capital_frequency"
    " lowercase_word_frequency:lowercase_relation,lowercase_frequency",
    "detectable_content": "number_placeholders:relation,num_placeholders"
    " postscript:postscript_marker numeric_inclusion:relation,num_numbers",
    "detectable_format": "json_format multiple_sections:section_splitter,relation,num_sections"
    " numbered_list:relation,num_numbered_items number_bullet_lists:relation,num_bullets title"
    " number_paragraphs:relation,num_paragraphs max_paragraph_length:max_chars"
    " sentences_per_paragraph:relation,num_sentences indentation:indent_type,size"
    " nested_list:min_depth,num_subitems table:min_rows,min_cols heading_depth:levels"
    " section_balance:element_type,count sentence_count:relation,num_sentences"
    " sentence_endings:min_variants",
    "keywords": "existence:keywords frequency:keyword,relation,frequency"
    " forbidden_words:forbidden_words letter_frequency:letter,let_relation,let_frequency"
    " alliteration:target_letter,relation,num_alliteration palindrome_word:min_length"
    " positioning:keyword,position vowel_count:relation,num_vowels"
    " consonant_count:relation,num_consonants",
    "length": "max_word_count:max_words",
    "length_constraints": "number_characters:relation,num_chars number_words:relation,num_words"
    " sentence_length:max_words word_repetition:max_repeats unique_words:relation,num_unique"
    " word_length:min_length,max_length avg_word_length:min_ratio,max_ratio"
    " paragraph_length:relation,words_per_paragraph",
    "punctuation": "no_comma no_period end_rule:allowed question_exclaim:relation,num_marks"
    " frequency:punctuation,relation,frequency balance variety:min_types",
    "startend": "start_checker:start_phrase end_checker:end_phrase wrap_checker:wrap_phrase"
    " quotation",
}
JUDGED = {
    "stylistic": "tone_formality:tone_level emotional_tone:emotion_type"
    " politeness:politeness_degree descriptive_level:description_degree literary_style:style_type"
    " sentence_tone_consistency:tone_type voice:voice_type"
    " figurative_language:figure_type,relation,num_occurrences"
    " tone_transition:from_tone,to_tone,transition_position"
    " emotive_adjectives:relation,num_adjectives sensory_detail:sense_type,relation,num_details"
    " rhythm_pattern:rhythm_type",
    "linguistic": "pragmatic_context:context_type speech_act:act_type"
    " syntactic_pattern:pattern_type grammatical_mood:mood_type morphological_form:form_type"
    " phonological_pattern:phonology_type sound_symbolism:relation,num_symbolisms",
    "situation": "role_based:role_type task_specific:task_type audience_alignment:audience_type"
    " contextual_scenario:scenario_type perspective:perspective_type"
    " emotional_alignment:emotion_type cultural_context:culture_type,adaptation_level"
    " temporal_context:time_frame environment_setting:environment_type",
}
NEEDS = {
    f"{family}:{name.partition(':')[0]}": [
        need for need in name.partition(":")[2].split(",") if need
    ]
    for family, names in {**ARGUMENTS, **JUDGED}.items()
    for name in names.split()
}
"""The arguments of each instruction; what is counted has its relation and number last."""
UNCASED = {
    *(name for name in NEEDS if name.startswith("change_case:")),
    *("keywords:" + name for name in "letter_frequency alliteration vowel_count".split()),
    "keywords:consonant_count",
}
"""What no language without upper case takes."""
TRIES = 1000
MODES: dict[str, Callable[[list[float]], float]] = {
    "all": min,
    "any": max,
    "mean": lambda verdicts: sum(verdicts) / len(verdicts),
    "min": min,
    "max": max,
}


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text of `submission`."""
    row = params["row"]
    if wrong := fault(params):
        return result("invalid task", None, wrong)
    asked = row.get("instructions", [])
    own = LANGUAGES.get(row.get("language", "en"), LANGUAGES["en"])
    names = [each.get("instruction_id") for each in asked]
    if broken := broken_in(asked):
        return result("graded", 0.0, broken)
    if odd := [name for name in names if not own.cased and name in UNCASED]:
        return result("graded", 0.0, f"the language has no {odd[0]}")
    if judged := [name for name in names if name.partition(":")[0] in JUDGED]:
        return result("invalid task", None, f"only a judge model can grade {judged[0]}")
    text = own.prepared(unthought(submission["text"]))
    try:
        verdicts = [float(followed(own, each, text)) for each in asked]
    except TooLong as fault_of_row:
        return result("invalid task", None, str(fault_of_row))
    failed = [name for name, verdict in zip(names, verdicts) if not verdict]
    mode = MODES[params["config"].get("aggregation_mode", "all")]
    reward = float(mode(verdicts)) if verdicts else 1.0
    return result("graded", reward, f"not met: {', '.join(failed)}" if failed else "all are met")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The first of some drafts that does all; None where none of them does."""
    row = params["row"]
    if fault(params) or broken_in(row.get("instructions", [])) or refusal(params):
        return None
    for number, text in enumerate(drafts(row.get("instructions", []), row.get("language", "en"))):
        answer = {"text": text, "calls": []}
        if score(params, answer)["reward"] == 1.0:
            return answer
        if number > TRIES:
            break
    return None


def result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}


def refusal(params: dict[str, Any]) -> str:
    """What a row needs beside this file: a judge model, for the questions that it says."""
    if params["row"].get("llm_judge", []) != []:
        return "its llm_judge asks a judge model"
    asked = params["row"].get("instructions", [])
    names = [each.get("instruction_id") for each in asked if isinstance(each, dict)]
    judged = [name for name in names if str(name).partition(":")[0] in JUDGED]
    return f"its instruction {judged[0]} asks a judge model" if judged else ""


def fault(params: dict[str, Any]) -> str:
    """Why the original cannot grade the row at all."""
    row = params["row"]
    asked, language = row.get("instructions", []), row.get("language", "en")
    if params["config"].get("aggregation_mode", "all") not in list(MODES):
        return "there is no such aggregation_mode"
    if row.get("llm_judge", []) != []:
        return "only a judge model can answer the llm_judge of the row"
    if not isinstance(language, str) or not isinstance(asked, list):
        return "language or instructions are not as they should be"
    for each in asked:
        if not isinstance(each, dict):
            return "an instruction is no object"
        named = each.get("instruction_id")
        if named and any(isinstance(value, (list, dict)) for value in (named, each.get("uid"))):
            return "an instruction_id or uid that is a list or an object"
    return ""


def broken_in(asked: list[dict[str, Any]]) -> str:
    """What makes the row one that earns 0, whatever is submitted."""
    seen = set()
    for each in asked:
        name, uid = each.get("instruction_id"), each.get("uid")
        if not name or name not in NEEDS:
            return f"there is no instruction {name!r}"
        if lacking := [need for need in NEEDS[name] if need not in each]:
            return f"{name} lacks {', '.join(lacking)}"
        if uid is None or uid in seen:
            return f"{name} has no uid of its own"
        if each.get("source") not in ("user", "system"):
            return f"{name} has no source"
        if not isinstance(each.get("is_misalignment_check"), bool):
            return f"{name} does not say is_misalignment_check"
        seen.add(uid)
    return ""


def followed(own: Any, each: dict[str, Any], text: str) -> bool:
    """Whether the text does as the instruction wants it."""
    name = each["instruction_id"]
    kind = name.partition(":")[2]
    try:
        count, holds = (getattr(own, f"{verb}_{kind}", None) for verb in ("count", "holds"))
        if kind in own.missing.split() or name == "punctuation:frequency":
            met = False
        elif count:
            relation, expected = (each[need] for need in NEEDS[name][-2:])
            met = related(count(text, each), own.relation(kind, relation), expected)
        else:
            met = holds is not None and holds(text, each)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  whatever it is
        met = False
    return not met if each["source"] == "user" and each["is_misalignment_check"] else met


def unthought(text: str) -> str:
    """Less what the model thought, even where only its end is marked."""
    text = text.strip()
    for tag in ("think", "thinking"):
        start, end = f"<{tag}>", f"</{tag}>"
        pieces, at = [], 0
        while (opened := text.find(start, at)) >= 0:
            closed = text.find(end, opened + len(start))
            if closed < 0:
                break
            pieces.append(text[at:opened])
            at = closed + len(end)
        text = "".join([*pieces, text[at:]])
    for end in ("</think>", "</thinking>"):
        text = text.partition(end)[2] if end in text else text
    return text.strip()
