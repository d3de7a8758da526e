/** Says what was last answered in a form, because the card has left the list. */
import { Link } from 'wouter';
import { CutText, Text } from '../../parts/value-text.tsx';

export interface LastAnswer {
  readonly step: string;
  /** Undefined: an effect without a run. */
  readonly run: { readonly id: string; readonly type: string } | undefined;
  /** The consequence, in words. */
  readonly done: string;
}

interface AnsweredProps {
  readonly last: LastAnswer | undefined;
  onDismiss(): void;
}

export function Answered({ last, onDismiss }: AnsweredProps) {
  // The element is always there, because a screen reader announces only text that appears in an existing region.
  return (
    <div role="status" className={last ? 'row between inbox-answered' : undefined}>
      {last && (
        <>
          <span>
            <strong>
              <Text value={last.step} max={100} />
            </strong>
            {last.run && (
              <>
                {' '}
                in{' '}
                <Link href={`/runs/${last.run.id}`}>
                  <CutText value={last.run.type} max={100} />
                </Link>
              </>
            )}
            : {last.done}
          </span>
          <button type="button" className="small" onClick={onDismiss}>
            Dismiss
          </button>
        </>
      )}
    </div>
  );
}
