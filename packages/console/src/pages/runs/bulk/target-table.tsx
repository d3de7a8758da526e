/** Each run of a change: whether it changes, and its outcome. */
import { Link } from 'wouter';
import { ApiError, messageOf, shownError } from '../../../api/problem.ts';
import { Status } from '../../../parts/status.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { type BulkMode, doneText, questionIn } from './plan.ts';
import type { BulkRow } from './use-bulk.ts';
import { partTitle, sentTitle } from './words.ts';

interface TargetTableProps {
  readonly mode: BulkMode;
  readonly targets: readonly BulkRow[];
}

interface PartProps extends TargetTableProps {
  readonly title: string;
}

export function TargetTable({ mode, targets, isSent }: TargetTableProps & { readonly isSent: boolean }) {
  if (targets.length === 0) return null;
  const included = targets.filter(({ decision }) => decision === undefined || decision.isIncluded);
  const excluded = targets.filter(({ decision }) => decision?.isIncluded === false);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="targets" tabIndex={0} aria-label="The runs">
      {included.length > 0 && (
        <Part
          title={isSent ? sentTitle(included.length) : partTitle(mode, true, included.length)}
          mode={mode}
          targets={included}
        />
      )}
      {excluded.length > 0 && (
        <Part title={partTitle(mode, false, excluded.length)} mode={mode} targets={excluded} />
      )}
    </section>
  );
}

function Part({ title, mode, targets }: PartProps) {
  return (
    <table className="stacks">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th>Status</th>
          <th>Run</th>
          <th>Outcome</th>
        </tr>
      </thead>
      <tbody>
        {targets.map((target) => (
          <tr key={target.row.id} data-run={target.row.id}>
            <td>
              <Status status={target.row.status} />
            </td>
            <td>
              <Text value={target.row.type} />{' '}
              <small className="mono dim">
                {target.decision?.isIncluded === false ? (
                  <Link href={`/runs/${target.row.id}`}>{target.row.id}</Link>
                ) : (
                  target.row.id
                )}
              </small>
            </td>
            <td>
              <Came mode={mode} target={target} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CameProps {
  readonly mode: BulkMode;
  readonly target: BulkRow;
}

function Came({ mode, target: { row, decision, sent } }: CameProps) {
  switch (sent?.at) {
    case 'waiting':
      return <span className="dim">queued</span>;
    case 'sending':
      return (
        <span className="dim">
          <span className="spinner" aria-hidden="true" /> sending
        </span>
      );
    case 'failed':
      return <Failed error={shownError(sent.error)} />;
    case 'done': {
      const text = doneText(mode, sent.answer);
      const madeId = sent.answer.answer?.runId ?? row.id;
      return (
        <span className="good">✓ {madeId === row.id ? text : <a href={`/runs/${madeId}`}>{text}</a>}</span>
      );
    }
  }
  if (decision === undefined) return <span className="dim">checking…</span>;
  if (!decision.isIncluded) return <Text value={decision.why} />;
  const question = questionIn(row, decision.question);
  return (
    <>
      {decision.what}
      {question !== undefined && (
        <div className="dim">
          <Text value={question} />
        </div>
      )}
    </>
  );
}

function Failed({ error }: { readonly error: unknown }) {
  return (
    <span className="bad">
      ✕ {error instanceof ApiError && <code>{error.problem.code}</code>} <Text value={messageOf(error)} />
    </span>
  );
}
