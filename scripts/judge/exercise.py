"""An exercise of make learn as a shape that make check knows: the judge is that of make learn, and its verdict becomes an answer."""

from scripts.judge import compiling, shapes
from scripts.judge.words import NOT_TRIED
from scripts.learn import exercise as exercises
from scripts.learn import judge, learn


def find(text):
    """The exercise with a number or a name as typed; None where there is none."""
    return next((task for task in exercises.every() if text in (task.number, task.number.lstrip("0"), task.name)), None)


class OfExercise(shapes.Shape):
    """What a kernel for an exercise is given; its sizes are known when it has run, for some are drawn."""
    least_bytes = None  # nobody says how much has to be loaded

    def __init__(self, task, sizes=()):
        super().__init__((task.kernel,), "", "docs/learn.md", sizes=tuple(sizes), counted_at=task.counts_at, promise=f"is for exercise {task.number}, {task.title}")
        self.task = task


def judged(path, folder, options, answer):
    """Judges the learner's kernel or, where the exercise asks for predictions, these."""
    task = options.shape.task
    with open(path, "rb") as file:
        text = file.read(judge.MOST_SOURCE + 1)
    tools = judge.Tools(options.nvcc, options.library, options.threads or 1)
    predicts = task.kind == "predict"
    verdict = judge.judged(task, compiling.name_to_compile(path), task.text("task.cu").encode() if predicts else text, tools)
    answer.step, answer.built, answer.said, answer.findings = task.name, not verdict.said, verdict.said, verdict.findings
    answer.unjudged = compiling.DISK_FULL if verdict.said and compiling.is_disk_full(folder) else ""
    answer.over = verdict.over
    answer.sizes = dict.fromkeys(task.sizes, NOT_TRIED) | {n: wrong and (verdict.over or wrong) for n, wrong in verdict.sizes.items()}
    answer.shape = OfExercise(task, answer.sizes)
    if verdict.row and predicts:
        answer.sizes[task.counts_at] = wrong_predictions(task, text.decode(errors="replace"), verdict.row)
    if verdict.row and not (predicts and answer.sizes[task.counts_at]):  # who predicts wrongly does not get the counters
        answer.counters = shapes.totals([verdict.row])
        answer.missed = [f"{gate.of(verdict.row):,} {gate.words}, {gate.goal}" for gate in verdict.missed]


def wrong_predictions(task, text, row):
    """Those that are not what is counted, in words; "" where all are right."""
    numbers, wrong = learn.predicted(text), []
    for question in task.questions:
        number, counted = numbers.get(question.words, ""), question.of(row)
        if not learn.is_number(number):
            wrong.append(f"{question.words}: no number")
        elif not learn.is_right(number, counted):
            wrong.append(f"{question.words}: {number}, and the run counts {'more' if counted > learn.number_of(number) else 'fewer'}")
    return "; ".join(wrong)
