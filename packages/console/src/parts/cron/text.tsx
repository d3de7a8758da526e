/** The cron expression of a schedule, with a description if there is one. */

import { visibleText } from '../visible-text.ts';
import { cronWords } from './words.ts';

export function CronText({ cron, timezone }: { readonly cron: string; readonly timezone: string }) {
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
