/** The table of docs/console.md: members of a run, and their places on its page. */
import { readFileSync } from 'node:fs';
import type { Run } from './shown.ts';

interface Place {
  /** Such as `facts`, or `tab`. */
  readonly place: string;
  /** Such as `Thread`, or `Journal`; empty: the place has no parts. */
  readonly detail: string;
}

interface PlacedMember {
  readonly member: keyof Run;
  readonly places: readonly Place[];
}

const HEADING = '## Where each fact of a run is';

/** Returns the rows in table order, without the remarks in parentheses. */
export function placesOf(): readonly PlacedMember[] {
  const docs = readFileSync(new URL('../../../docs/console.md', import.meta.url), 'utf8');
  const section = docs.split(HEADING)[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) => {
    const [, members = '', places = ''] = row.split('|');
    return [...members.matchAll(/`(\w+)`/g)].map(([, member]) => ({
      member: member as keyof Run,
      places: partsOf(places),
    }));
  });
}

function partsOf(places: string): readonly Place[] {
  return places
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\([^)]*\)/g, '')
    .split(';')
    .flatMap((one) => {
      const [place = '', details = ''] = one.split(':').map((part) => part.trim());
      return details.split(',').map((detail) => ({ place, detail: detail.trim() }));
    });
}
