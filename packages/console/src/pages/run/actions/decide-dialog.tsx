/** The form for a question of a run, with its five answers. */
import { useState } from 'react';
import { plannedAct } from '../../../parts/act.ts';
import { ActionDialog } from '../../../parts/dialog/action-dialog.tsx';
import { Details } from '../../../parts/json-view/details.tsx';
import { type Entered, lackOf, NOTHING_ENTERED, readEntered } from '../../../parts/schema-form/entered.ts';
import { type RefusedEntry, refusedAt } from '../../../parts/schema-form/refused.ts';
import { SchemaInput } from '../../../parts/schema-form/schema-input.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { ChoiceOf } from './choice.tsx';
import {
  type AskedKind,
  actName,
  bodyOfDecision,
  carriesData,
  choicesOf,
  cliOf,
  type DecisionName,
  dueWords,
  type Filled,
  lacking,
  questionOf,
  raisableIn,
  UNFILLED,
} from './decisions.ts';
import './actions.css';

interface DecideDialogProps {
  readonly runId: string;
  /** Key of the step that asks. */
  readonly step: string;
  readonly waitId: string;
  readonly asked: AskedKind;
  /** The question as the run has it. */
  readonly detail?: unknown;
  /** JSON Schema of the data that an approval takes. */
  readonly dataSchema?: unknown;
  readonly dueAt?: string | undefined;
  /** The answer that is chosen initially; default: the approval. */
  readonly first?: DecisionName | undefined;
  /** Steps that can be sent back; undefined: the plan is unknown, and the steps that the approval needs are sent back. */
  readonly before?: readonly string[] | undefined;
  /** Answers that the API accepts; undefined: not known. */
  readonly accepted?: readonly string[] | undefined;
  /** The reason why it cannot be answered any more. */
  readonly outdated?: string | false | undefined;
  /** Called before it closes, with what was done in words. */
  onDone?(done: string): void;
  onClose(): void;
}

export function DecideDialog(props: DecideDialogProps) {
  const { runId, step, waitId, asked, detail, dataSchema, dueAt, first, before, accepted } = props;
  const { outdated, onDone, onClose } = props;
  const [filled, setFilled] = useState<Filled>({ ...UNFILLED, ...(first && { decision: first }) });
  const fill = (part: Partial<Filled>) => setFilled({ ...filled, ...part });
  const choices = choicesOf(asked, { detail, before, accepted });
  const choice = choices.find(({ decision }) => decision === filled.decision);
  const lack = choice ? lacking(filled) : 'Choose an answer.';
  const [entered, setEntered] = useState<Entered>(NOTHING_ENTERED);
  const [refused, setRefused] = useState<RefusedEntry>();
  const takesData = dataSchema !== undefined && carriesData(filled.decision);
  const data = takesData ? readEntered(dataSchema, entered) : undefined;
  const body = bodyOfDecision(filled, waitId, data?.value);
  return (
    <ActionDialog
      title={actName(asked, step)}
      verb={choice?.verb ?? 'Send'}
      danger={choice?.isDanger ?? false}
      outdated={outdated}
      lack={lack ?? (data && lackOf(data))}
      act={
        lack === undefined && data?.hasValue !== false
          ? plannedAct('POST', '/v1/runs/{id}/approvals/{stepId}', {
              change: { params: { id: runId, stepId: step }, body },
              cli: cliOf(runId, step, body),
            })
          : undefined
      }
      onRefused={(error) => setRefused(data && { typed: data.typed, issues: refusedAt(error, 'data', data) })}
      onDone={() => {
        if (choice) onDone?.(choice.done);
        onClose();
      }}
      onClose={onClose}
    >
      <Question detail={detail} dueAt={dueAt} asked={asked} />
      <ChoiceOf
        legend="Your answer"
        value={filled.decision}
        options={choices.map(({ decision, verb, meaning }) => ({
          value: decision,
          name: verb,
          meaning,
        }))}
        onChange={(decision) => fill({ decision })}
      />
      {asked === 'budget' && filled.decision === 'approve' && (
        <Raise limits={raisableIn(detail)} filled={filled} fill={fill} />
      )}
      {takesData && (
        <SchemaInput
          label="Data"
          schema={dataSchema}
          entered={entered}
          hint="JSON that the workflow accepts."
          refused={refused}
          onEntered={setEntered}
        />
      )}
      {filled.decision === 'retry_with_feedback' ? (
        <SendBack filled={filled} before={before ?? []} fill={fill} />
      ) : (
        <label>
          {filled.decision === 'approve_with_waiver' ? 'Note' : 'Note (optional)'}
          <textarea rows={2} value={filled.note} onChange={(event) => fill({ note: event.target.value })} />
        </label>
      )}
    </ActionDialog>
  );
}

interface RaiseProps {
  readonly limits: ReturnType<typeof raisableIn>;
  readonly filled: Filled;
  fill(part: Partial<Filled>): void;
}

function Raise({ limits, filled: { raise }, fill }: RaiseProps) {
  return (
    <fieldset className="amounts">
      <legend>Raise by (optional)</legend>
      {limits.map(([limit, name]) => (
        <label key={limit}>
          {name}
          <input
            value={raise[limit] ?? ''}
            inputMode={limit === 'wallClock' ? 'text' : 'decimal'}
            onChange={({ target }) => fill({ raise: { ...raise, [limit]: target.value } })}
          />
        </label>
      ))}
    </fieldset>
  );
}

interface SendBackProps {
  readonly filled: Filled;
  readonly before: readonly string[];
  fill(part: Partial<Filled>): void;
}

function SendBack({ filled: { feedback, steps }, before, fill }: SendBackProps) {
  return (
    <>
      <label>
        Feedback
        <textarea rows={3} value={feedback} onChange={(event) => fill({ feedback: event.target.value })} />
      </label>
      {before.length > 0 && (
        <fieldset className="checks">
          <legend>Steps to run again, with all that follows them</legend>
          {before.map((id) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={steps.includes(id)}
                onChange={({ target }) =>
                  fill({ steps: target.checked ? [...steps, id] : steps.filter((other) => other !== id) })
                }
              />
              <code>{id}</code>
            </label>
          ))}
          <p className="hint">None chosen: those that the question needs.</p>
        </fieldset>
      )}
    </>
  );
}

interface QuestionProps {
  readonly detail: unknown;
  readonly dueAt?: string | undefined;
  readonly asked: AskedKind;
}

function Question({ detail, dueAt, asked }: QuestionProps) {
  const { text, beside, to = [] } = questionOf(detail);
  // The question about a budget already contains all details.
  const saysAll = asked === 'budget';
  return (
    <section className="question" aria-label="The question">
      <p>
        <Text value={text} />
      </p>
      {to.length > 0 && (
        <p className="dim">
          Asked: <Text value={to.join(', ')} max={300} />
        </p>
      )}
      {beside !== undefined && !saysAll && <Details value={beside} label="Details of the question" />}
      {dueAt !== undefined && (
        <p className="hint">
          {asked === 'budget' ? 'The run' : 'It'} {dueWords(asked)} <When at={dueAt} />.
        </p>
      )}
    </section>
  );
}
