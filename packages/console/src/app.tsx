/** Routes of the pages. Nothing is shown before the sign-in. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import type { Api } from './api/client.ts';
import { isPassing } from './api/problem.ts';
import { readRunAhead } from './pages/run/live/first-reads.ts';
// Most sessions begin with this page, so it is part of the first script.
import { CHAINS, LIST_KEPT_MS } from './pages/runs/list/query-keys.ts';
import RunsPage, { readAhead as readRunsAhead } from './pages/runs/page.tsx';
import { Loading, NothingHere } from './parts/states.tsx';
import { SessionGate } from './session/gate.tsx';
import { PageFault } from './shell/page-fault.tsx';
import { pageOf, unescaped } from './shell/path.ts';
import { Shell } from './shell/shell.tsx';

const LOADS = {
  run: () => import('./pages/run/page.tsx'),
  inbox: () => import('./pages/inbox/page.tsx'),
  workflows: () => import('./pages/workflows/page.tsx'),
  schedules: () => import('./pages/schedules/page.tsx'),
  health: () => import('./pages/health/page.tsx'),
};
interface PageModule<P> {
  readonly default: ComponentType<P>;
}

// The page is fetched during the sign-in. If that fails, the page fetches it again and shows a failure.
const fetched = new Map<unknown, unknown>();
const first = fetchPage(pageOf(window.location.pathname)).catch(() => undefined);

async function fetchPage(name: string): Promise<void> {
  if (!Object.hasOwn(LOADS, name)) return;
  const load = LOADS[name as keyof typeof LOADS];
  fetched.set(load, await load());
}

/** React shows a placeholder for at least 0.3 s even for a loaded page, so a loaded page is passed synchronously. */
function page<P>(load: () => Promise<PageModule<P>>) {
  return lazy(() => {
    const loaded = fetched.get(load) as PageModule<P> | undefined;
    // biome-ignore lint/suspicious/noThenProperty: React accepts any object with `then`, which may call back synchronously
    const given = { then: (take: (page: PageModule<P>) => void) => loaded && take(loaded) };
    return loaded ? (given as unknown as Promise<PageModule<P>>) : load();
  });
}

const RunPage = page(LOADS.run);
const InboxPage = page(LOADS.inbox);
const WorkflowsPage = page(LOADS.workflows);
const SchedulesPage = page(LOADS.schedules);
const HealthPage = page(LOADS.health);

/** Time for which data counts as fresh if no stream reports changes. */
const FRESH_MS = 5_000;
const MAX_RETRIES = 3;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) => failures < MAX_RETRIES && isPassing(error),
    },
  },
});

queries.setQueryDefaults(CHAINS, { gcTime: LIST_KEPT_MS });

/** Resolves when the scripts of the page are loaded, so that the page can be drawn. */
async function readAhead(api: Api): Promise<void> {
  const { pathname, search } = window.location;
  const name = pageOf(pathname);
  if (name === 'runs') void readRunsAhead(api, queries, search);
  // The module of the page cannot do this: loading its scripts takes longer than the answers.
  if (name === 'run') void readRunAhead(api, queries, unescaped(pathname.split('/')[2] ?? ''));
  await first;
}

export function App() {
  const [location] = useLocation();
  return (
    <QueryClientProvider client={queries}>
      <SessionGate onEnter={readAhead}>
        <Shell>
          <PageFault key={pageOf(location)}>
            <Suspense fallback={<Loading what="the page" />}>
              <Switch>
                <Route path="/">
                  <Redirect to="/runs" replace />
                </Route>
                <Route path="/runs">
                  <RunsPage />
                </Route>
                <Route path="/runs/:id">{({ id }) => <RunPage id={unescaped(id)} key={id} />}</Route>
                <Route path="/inbox">
                  <InboxPage />
                </Route>
                <Route path="/workflows">
                  <WorkflowsPage />
                </Route>
                <Route path="/workflows/:type">
                  {({ type }) => <WorkflowsPage type={unescaped(type)} />}
                </Route>
                <Route path="/schedules">
                  <SchedulesPage />
                </Route>
                <Route path="/schedules/:id">{({ id }) => <SchedulesPage id={unescaped(id)} />}</Route>
                <Route path="/health">
                  <HealthPage />
                </Route>
                <Route>
                  <NothingHere />
                </Route>
              </Switch>
            </Suspense>
          </PageFault>
        </Shell>
      </SessionGate>
    </QueryClientProvider>
  );
}
