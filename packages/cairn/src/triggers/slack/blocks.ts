/**
 * An open approval as a message in Slack's Block Kit, with buttons that the webhook handles. Pure: posting the message is a
 * separate effect.
 */
import { stepKey } from '../../core/run/state.ts';
import { BUTTON_DECISIONS, type ButtonDecision, DECIDE_ACTION, valueText } from './decision-value.ts';
import { clipped, escaped } from './message.ts';

/** Slack's limit for the text of a section, 3,000, minus room for the surrounding text. */
const MAX_QUESTION_CHARS = 2_900;

/** Members of an open wait of kind `approval` that are shown, in the form of the API and of run events. */
export interface ApprovalWait {
  readonly id: string;
  readonly execution: { readonly stepId: string; readonly itemKey?: string | undefined };
  readonly purpose?: 'doubt' | 'effect' | 'budget' | undefined;
  readonly day?: string | undefined;
  /** ISO 8601. */
  readonly dueAt?: string | undefined;
  readonly detail?: unknown;
  /** Absent in lists of runs, where every wait looks like an approval without data. */
  readonly dataSchema?: unknown;
}

interface ApprovalQuestion {
  readonly runId: string;
  /** Type of the workflow. */
  readonly type: string;
  readonly wait: ApprovalWait;
}

interface SlackText {
  readonly type: 'mrkdwn' | 'plain_text';
  readonly text: string;
}

interface SlackButton {
  readonly type: 'button';
  readonly action_id: string;
  readonly text: SlackText;
  readonly value: string;
  readonly style?: 'primary' | 'danger' | undefined;
}

/** A block of Slack's Block Kit. */
export type SlackBlock =
  | { readonly type: 'section'; readonly text: SlackText }
  | { readonly type: 'context'; readonly elements: readonly SlackText[] }
  | { readonly type: 'actions'; readonly block_id: string; readonly elements: readonly SlackButton[] };

/** Slack's limit for a block id. */
const MAX_BLOCK_ID_CHARS = 255;

/**
 * Blocks of a message with a question: its text, origin and deadline, and a button for each decision that needs only one press. If the
 * name of the step is too long for a button, there are no buttons, and the question must be answered with the API.
 */
export function approvalBlocks({ runId, type, wait }: ApprovalQuestion): SlackBlock[] {
  const step = stepKey(wait.execution);
  const dueAt = Date.parse(wait.dueAt ?? '');
  const due = Number.isNaN(dueAt) ? '' : ` · until ${dateOf(dueAt)}`;
  const elsewhere = wait.dataSchema === undefined ? '' : ' · it takes data: approve it in the console';
  const origin = `${clipped(escaped(type), 100)} · \`${clipped(escaped(step), 500)}\` of run \`${runId}\`${due}${elsewhere}`;
  const decisions = decisionsOf(wait);
  const elements = decisions.flatMap((decision) => buttonOf({ runId, step, wait, decision }));
  return [
    { type: 'section', text: { type: 'mrkdwn', text: questionOf(wait) } },
    { type: 'context', elements: [{ type: 'mrkdwn', text: origin }] },
    ...(elements.length > 0 && elements.length === decisions.length
      ? [{ type: 'actions', block_id: blockIdOf(wait), elements } as const]
      : []),
  ];
}

function decisionsOf({ purpose, day, dataSchema }: ApprovalWait): readonly ButtonDecision[] {
  // Resolving an effect takes more than one press, because the operator has to check the receiver first.
  if (purpose === 'effect') return [];
  // Data needs a form. Raising the daily budget requires a role, which Slack users do not have.
  const takesMore = dataSchema !== undefined || day !== undefined;
  return takesMore ? BUTTON_DECISIONS.filter((decision) => decision !== 'approve') : BUTTON_DECISIONS;
}

interface ButtonChoice {
  readonly runId: string;
  readonly step: string;
  readonly wait: ApprovalWait;
  readonly decision: ButtonDecision;
}

const LABELS: Readonly<Record<ButtonDecision, string>> = {
  approve: 'Approve',
  reject: 'Reject',
  halt: 'Halt the run',
};
/** Labels for a step interrupted by a crash, where the decisions have another meaning. */
const DOUBT_LABELS: Readonly<Record<ButtonDecision, string>> = {
  approve: 'Run it again',
  reject: 'Mark it as failed',
  halt: 'Halt the run',
};

/** Approving raises the limits that were reached, by the amounts that the workflow declares. */
const BUDGET_LABELS: Readonly<Record<ButtonDecision, string>> = {
  approve: 'Raise the budget',
  reject: 'Fail the step',
  halt: 'Halt the run',
};

function buttonOf({ runId, step, wait, decision }: ButtonChoice): SlackButton[] {
  const value = valueText({ runId, stepId: step, waitId: wait.id, decision });
  if (value === undefined) return [];
  const labels = wait.purpose === 'doubt' ? DOUBT_LABELS : wait.purpose === 'budget' ? BUDGET_LABELS : LABELS;
  const style = decision === 'approve' ? 'primary' : 'danger';
  return [
    {
      type: 'button',
      action_id: `${DECIDE_ACTION}.${decision}`,
      text: { type: 'plain_text', text: labels[decision] },
      value,
      style: decision === 'halt' ? undefined : style,
    },
  ];
}

/** The author's question, without its `details`, which authors show elsewhere. */
function questionOf({ detail, execution }: ApprovalWait): string {
  const { question } = (detail ?? {}) as { readonly question?: unknown };
  const text = typeof question === 'string' && question.trim() !== '' ? question : stepKey(execution);
  return shortened(text);
}

/** Escaping makes a text up to five times as long, and a cut within an escape would be visible. */
function shortened(text: string): string {
  let most = MAX_QUESTION_CHARS;
  let shown = escaped(clipped(text, most));
  while (shown.length > MAX_QUESTION_CHARS) {
    most -= Math.ceil((shown.length - MAX_QUESTION_CHARS) / LONGEST_ESCAPE);
    shown = escaped(clipped(text, most));
  }
  return shown;
}

/** `&amp;` */
const LONGEST_ESCAPE = 5;

/** In the reader's time zone; the text after the bar is for clients without support. */
function dateOf(at: number): string {
  return `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} {time}|${new Date(at).toISOString()}>`;
}

/** Different for each question, as Slack requires when a message is replaced. */
function blockIdOf({ id }: ApprovalWait): string {
  return clipped(`${DECIDE_ACTION}:${id}`, MAX_BLOCK_ID_CHARS);
}
