/** Decides whether a run continues with time, or needs external input first. Reads folds only. */
import type { Wait } from '../core/run/events.ts';
import { awaitedText } from '../core/run/now/waits-for.ts';
import { isOver, type RunState, stepKey } from '../core/run/state.ts';

type ReadState = (runId: string) => RunState | undefined;

interface NextMove {
  /** Time at which the run continues without external input, epoch ms; infinity: never, negative infinity: now. */
  readonly movesAt: number;
  /** Pending requests, with their deadlines. */
  readonly asked: readonly { readonly text: string; readonly until: number }[];
}

const AT_ONCE = Number.NEGATIVE_INFINITY;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * Description of the external input that a run needs; undefined if it continues by itself. A question with a deadline counts as
 * required input: to let it expire, a test advances time itself.
 */
export function blockedBy(state: RunState, read: ReadState): string | undefined {
  const { movesAt, asked } = nextMove(state, read);
  const first = Math.min(...asked.map(({ until }) => until), NEVER);
  if (asked.length === 0 || movesAt < first) return undefined;
  return asked.map(({ text }) => text).join('; and ');
}

function nextMove(state: RunState, read: ReadState): NextMove {
  const waits = state.status === 'awaiting_approval' || state.status === 'waiting_external';
  const missing = missingChild(state);
  if (isOver(state) || (!waits && missing === undefined)) return { movesAt: AT_ONCE, asked: [] };
  const parts = state.waits.map((wait) => {
    const isMissing = missing !== undefined && wait.kind === 'child' && !wait.announced;
    return isMissing ? asks(`a deployment: ${missing}`, wait.dueAt) : outlookOf(wait, read);
  });
  if (state.parked !== undefined) {
    parts.push({ movesAt: NEVER, asked: [{ text: `blocked on deployment: ${state.parked}`, until: NEVER }] });
  }
  // Deadlines are ignored, because a test that runs to the end rarely wants them to pass.
  for (const step of state.steps.values()) {
    if (step.phase === 'retrying' && !step.whenRoom) parts.push({ movesAt: step.retryAt, asked: [] });
  }
  return {
    movesAt: Math.min(...parts.map(({ movesAt }) => movesAt), NEVER),
    asked: parts.flatMap(({ asked }) => asked),
  };
}

/** The reason why a child cannot be started, if the run has nothing else to do. */
function missingChild({ status, lease, failures }: RunState): string | undefined {
  const isBackingOff = status === 'running' && lease === undefined;
  return isBackingOff && failures?.error.code === 'PLAN_VERSION_UNAVAILABLE'
    ? failures.error.message
    : undefined;
}

function outlookOf(wait: Wait, read: ReadState): NextMove {
  const { dueAt } = wait;
  const step = `'${stepKey(wait.execution)}'`;
  switch (wait.kind) {
    case 'timer':
      return { movesAt: wait.dueAt, asked: [] };
    case 'approval':
    case 'event': {
      const place = wait.kind === 'approval' ? 'on' : 'in';
      return asks(`${awaitedText(wait)} ${place} ${step}${until(dueAt)}`, dueAt);
    }
    case 'child': {
      const state = read(wait.child.runId);
      if (!state) return { movesAt: AT_ONCE, asked: [] };
      const { movesAt, asked } = nextMove(state, read);
      return {
        movesAt,
        asked: asked.map((each) => ({ ...each, text: `${each.text} of the child ${state.id} in ${step}` })),
      };
    }
  }
}

function asks(text: string, dueAt: number | undefined): NextMove {
  return { movesAt: NEVER, asked: [{ text, until: dueAt ?? NEVER }] };
}

function until(dueAt: number | undefined): string {
  return dueAt === undefined ? '' : ` (until ${new Date(dueAt).toISOString()})`;
}
