/** Refused approvals whose questions are no longer shown: another person answered during the undo period, or the page was left. */
import { Link } from 'wouter';
import type { RefusedApproval } from '../session/late-outcomes.ts';
import { CutText, Text } from './value-text.tsx';

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
      {refused.map(({ key, runId, type, question, why }) => (
        <p key={key}>
          <Text value={question} max={200} />{' '}
          <Link href={`/runs/${runId}`}>
            <CutText value={type} max={100} />
          </Link>
          : <Text value={why} max={300} />
        </p>
      ))}
      <button type="button" onClick={onClose}>
        Dismiss
      </button>
    </div>
  );
}
