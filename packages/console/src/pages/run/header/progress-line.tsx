/** The progress that a body reported: its share, if any, its text, and when it reported. */
import { CutText, Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { type BodyProgress, percentText, shareOf } from '../live/progress.ts';
import { ViewLink } from './view-link.tsx';

const DETAILS_CHARS = 200;

/** @param linked shows the name of the step as a link */
export function ProgressLine({
  progress: { step, details, at },
  linked = false,
}: {
  readonly progress: BodyProgress;
  readonly linked?: boolean;
}) {
  const share = shareOf(details);
  return (
    <p className="row progress-line" data-progress={step}>
      {linked && (
        <ViewLink to={{ step, tab: undefined }}>
          <CutText value={step} max={120} />
        </ViewLink>
      )}
      {share !== undefined && (
        <>
          <progress value={share} aria-label={`Progress of ${step}`} />
          <span className="number">{percentText(share)}</span>
        </>
      )}
      <span className="mono">
        <Text value={typeof details === 'string' ? details : JSON.stringify(details)} max={DETAILS_CHARS} />
      </span>
      <span className="dim">
        reported <When at={at} />
      </span>
    </p>
  );
}
