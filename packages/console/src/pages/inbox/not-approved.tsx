/** Approvals that were refused and whose questions are gone, as when somebody else answered in the seconds of the undo. */
import { Link } from 'wouter';
import { refusalOf } from '../../api/problem.ts';
import { Text } from '../../parts/value-text.tsx';
import type { RefusedApproval } from './use-approvals.ts';

interface NotApprovedProps {
  readonly refused: readonly RefusedApproval[];
  onClose(): void;
}

export function NotApproved({ refused, onClose }: NotApprovedProps) {
  if (refused.length === 0) return null;
  return (
    <div className="failure" role="alert">
      <p>
        <strong>Not approved</strong>
      </p>
      {refused.map(({ item: { runId, type, step, waitId, question }, error }) => (
        <p key={`${runId} ${step} ${waitId}`}>
          <Text value={question} max={200} />{' '}
          <Link href={`/runs/${runId}`}>
            <Text value={type} max={100} />
          </Link>
          : <Text value={refusalOf(error)?.detail ?? String(error)} max={300} />
        </p>
      ))}
      <button type="button" onClick={onClose}>
        Dismiss
      </button>
    </div>
  );
}
