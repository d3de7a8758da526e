/** The cron expression of a schedule, with a description if there is one. */

import { visibleText } from '../visible-text.ts';
import { cronWords } from './words.ts';

interface CronTextProps {
  readonly cron: string;
  readonly timezone: string;
}

export function CronText({ cron, timezone }: CronTextProps) {
  const words = cronWords(cron);
  const line = <code>{visibleText(cron)}</code>;
  if (words === undefined)
    return (
      <>
        {line} <span className="dim">{visibleText(timezone)}</span>
      </>
    );
  return (
    <>
      {visibleText(words)} <span className="dim">{visibleText(timezone)}</span>{' '}
      <span className="dim cron-line">{line}</span>
    </>
  );
}
