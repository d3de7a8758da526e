/** Every fact of a run, at the place on its page that docs/console.md names. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { Run as RunSchema } from '../../../packages/cairn/src/api/openapi/schemas/runs.ts';
import { eventually } from '../../system/support.ts';
import { placesOf } from '../facts/places.ts';
import { OVERLAYS, type OverlayName, type Run, SHOWN, type Shown } from '../facts/shown.ts';
import { becomes } from '../support/becomes.ts';
import { goTo } from '../support/browser.ts';
import type { Stage } from '../support/stage.ts';

const PLACES: Readonly<Record<string, (page: Page, detail: string) => Locator>> = {
  title: (page) => page.locator('.run-title'),
  state: (page) => page.locator('.run-state'),
  facts: (page, name) => page.locator('.run-facts > div', { has: page.getByText(name, { exact: true }) }),
  Input: (page) => page.getByRole('group', { name: 'Input' }),
  Result: (page) => page.getByRole('group', { name: 'Result' }),
  graph: (page) => page.locator('.graph .step-box'),
  'step panel': (page) => page.getByRole('region', { name: 'The selected step' }),
  tab: (page, name) => page.getByRole('region', { name, exact: true }),
};

interface Look {
  readonly member: keyof Run;
  readonly place: string;
  readonly detail: string;
  /** Part of the address. */
  readonly query: string;
}

/** Lists the members of the overlay with their places, without *All facts*. */
function looksAt(overlay: OverlayName): readonly Look[] {
  return placesOf().flatMap(({ member, places }) => {
    const { of = 'waiting', step } = SHOWN[member] ?? {};
    if (of !== overlay) return [];
    return places.flatMap(({ place, detail }) => {
      if (place === 'All facts') return [];
      if (place === 'step panel') return [{ member, place, detail, query: `?step=${step}` }];
      const seq = detail === 'Journal' ? '&seq=last' : '';
      const query = place === 'tab' ? `?tab=${detail.toLowerCase()}${seq}` : '';
      return [{ member, place, detail, query }];
    });
  });
}

export function facts(stage: Stage): void {
  let run: Run;
  beforeAll(async () => {
    run = await makeRun(stage);
  });

  const opened = async (overlay: OverlayName): Promise<readonly [Page, Run]> => {
    const page = await stage.browser.open('/inbox');
    let shown = run;
    // Each test adds members to the cloud's answer that its run does not have.
    await page.route(`**/v1/runs/${run.id}`, async (route) => {
      const answer = await route.fetch();
      const found = (await answer.json()) as Run;
      shown = { ...found, ...OVERLAYS[overlay](found) };
      await route.fulfill({ json: shown });
    });
    await page.goto(`/runs/${run.id}`);
    await page.locator('.run-state').waitFor();
    return [page, shown];
  };

  describe('every fact of a run is shown:', () => {
    test('each member is covered by a run that the API could return', () => {
      const whole = Object.values(OVERLAYS).map((overlay) => ({ ...run, ...overlay(run) }));
      for (const one of whole) expect(RunSchema.safeParse(one).error).toBeUndefined();
      const members = new Set(
        whole.flatMap((one) =>
          Object.entries(one).flatMap(([name, value]) => (value === undefined ? [] : name)),
        ),
      );
      expect([...members].toSorted()).toEqual(Object.keys(RunSchema.shape).toSorted());
    });

    test.each(Object.keys(OVERLAYS) as OverlayName[])('a run: %s', async (overlay) => {
      const [page, shown] = await opened(overlay);
      const looks = looksAt(overlay);
      expect(looks.length).toBeGreaterThan(0);
      const texts = new Map(looks.map(({ member }) => [member, SHOWN[member]?.shows(shown) ?? []]));
      const found = new Map<string, Set<Shown>>();
      const empty: string[] = [];
      for (const query of new Set(looks.map((look) => look.query))) {
        await goTo(page, `/runs/${shown.id}${query.replace('last', String(shown.head))}`);
        for (const { member, place, detail } of looks.filter((look) => look.query === query)) {
          const where = PLACES[place]?.(page, detail);
          if (!where) throw new Error(`docs/console.md: ${place} is no place of the page`);
          const there = await shownAt(where, texts.get(member) ?? []);
          if (there.length === 0)
            empty.push(`${member}: ${place} ${detail} says ${(await where.allTextContents()).join('; ')}`);
          found.set(member, new Set([...(found.get(member) ?? []), ...there]));
        }
      }
      const missing = [...texts].flatMap(([member, wanted]) =>
        wanted.filter((one) => !found.get(member)?.has(one)).map((one) => [member, one]),
      );
      expect({ empty, missing }).toEqual({ empty: [], missing: [] });
    });

    test('the whole response is under All facts', async () => {
      const [page, shown] = await opened('waiting');
      const whole = page.getByRole('group', { name: 'All facts' });
      await whole.locator('summary').click();
      const tree = whole.getByRole('tree', { name: 'All facts' });
      await whole.getByRole('button', { name: 'Close all' }).click();
      // The tree renders only the visible rows.
      await tree.evaluate((one) => Object.assign(one.style, { height: '4000px', maxHeight: 'none' }));
      const rows = async () => {
        const all = await tree.locator('[aria-level="2"]').allTextContents();
        return Object.fromEntries(
          all
            .map((row) => row.replace(/^[▾▸]/, '').split(/: (.*)/s))
            .map(([name = '', value = '']) => [name, value]),
        );
      };
      const lineOf = (value: unknown) => {
        if (typeof value === 'string') return expect.stringContaining(JSON.stringify(value).slice(0, 40));
        if (typeof value !== 'object' || value === null) return String(value);
        return expect.stringMatching(/^[[{]/);
      };
      const wanted = Object.entries(shown).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, lineOf(value)] as const],
      );
      await becomes(rows, Object.fromEntries(wanted));
      const alone = placesOf().filter(({ places }) => places.every(({ place }) => place === 'All facts'));
      expect(wanted.map(([name]) => name)).toEqual(expect.arrayContaining(alone.map(({ member }) => member)));
    });
  });
}

/** Time to wait for a text that is missing. The test then reports the texts it found. */
const LOOK_MS = 60_000;

/** Waits for one of the texts. @returns the texts that the place has */
async function shownAt(where: Locator, texts: readonly Shown[]): Promise<Shown[]> {
  const having = (text: Shown) =>
    typeof text === 'object' && 'time' in text
      ? where.filter({ has: where.page().locator(`time[datetime="${text.time}"]`) })
      : where.filter({ hasText: text }).or(where.getByText(text));
  const [first] = texts;
  if (first === undefined) return [];
  await where.first().waitFor();
  const any = texts.map(having).reduce((one, other) => one.or(other));
  await any
    .first()
    .waitFor({ timeout: LOOK_MS })
    .catch(() => undefined);
  const there = await Promise.all(
    texts.map(async (text) => (await having(text).first().isVisible()) && text),
  );
  return there.filter((text) => text !== false);
}

/** Starts a leaflet run that is sent back once, is approved, and has a side effect in doubt. */
async function makeRun({ cloud: { call } }: Stage): Promise<Run> {
  const body = { type: 'leaflet', input: { title: 'Kingfishers', copies: 1 } };
  const { runId } = await call<{ runId: string }>('POST', '/v1/runs', body);
  const until = (what: string, holds: (run: Run) => boolean) =>
    eventually(`${runId} ${what}`, async () => {
      const one = await call<Run>('GET', `/v1/runs/${runId}`);
      return holds(one) ? one : undefined;
    });
  const asks = (wait: string) => until(`asks ${wait}`, ({ waits }) => waits.some(({ id }) => id === wait));
  const decide = (decision: object) => call('POST', `/v1/runs/${runId}/approvals/review`, decision);
  await asks('review.1');
  await decide({ decision: 'retry_with_feedback', feedback: 'Say where they nest.', steps: ['draft'] });
  await asks('review.2');
  await decide({ decision: 'approve' });
  return until('doubts', ({ waits, lease }) => waits.some(({ purpose }) => purpose === 'effect') && !lease);
}
