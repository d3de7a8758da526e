/** Routes of the pages. Nothing is shown before the sign-in. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import type { Api } from './api/client.ts';
import { isPassing } from './api/problem.ts';
import { readRunAhead } from './pages/run/live/first-reads.ts';
// Most sessions begin with this page: it comes with the first script, and does not wait for further ones.
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

// The page is fetched while it is asked who looks. If that fails, the page asks for it once more, and says so.
const fetched = new Map<unknown, unknown>();
const first = fetchPage(pageOf(window.location.pathname)).catch(() => undefined);

async function fetchPage(name: string): Promise<void> {
  if (!Object.hasOwn(LOADS, name)) return;
  const load = LOADS[name as keyof typeof LOADS];
  fetched.set(load, await load());
}

/** React shows that a page is coming for at least 0.3 s, also when it is there already; so one that is there is given at once. */
function page<P>(load: () => Promise<PageModule<P>>) {
  return lazy(() => {
    const loaded = fetched.get(load) as PageModule<P> | undefined;
    // biome-ignore lint/suspicious/noThenProperty: what React takes is whatever has a `then`, which may answer at once
    const given = { then: (take: (page: PageModule<P>) => void) => loaded && take(loaded) };
    return loaded ? (given as unknown as Promise<PageModule<P>>) : load();
  });
}

const RunPage = page(LOADS.run);
const InboxPage = page(LOADS.inbox);
const WorkflowsPage = page(LOADS.workflows);
const SchedulesPage = page(LOADS.schedules);
const HealthPage = page(LOADS.health);

/** Time for which data is fresh, where no stream reports changes. */
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

/** Ends when the scripts of the page are there, which is not too early to draw it. */
async function readAhead(api: Api): Promise<void> {
  const { pathname, search } = window.location;
  const name = pageOf(pathname);
  if (name === 'runs') void readRunsAhead(api, queries, search);
  // Not by its module, whose scripts take longer than the answers.
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
