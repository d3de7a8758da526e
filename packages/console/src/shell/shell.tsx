/** Frame of every page: navigation, search, and the signed-in person. */
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { focusIfLost } from '../parts/focus.ts';
import { visibleText } from '../parts/visible-text.ts';
import { useSession } from '../session/session.ts';
import { ClosedForms } from './closed-forms.tsx';
import { InboxCount } from './inbox-count.tsx';
import { isCommand, usePageKeys } from './is-command.ts';
import { KeyHelp } from './key-help.tsx';
import { LateRefusals, Notices } from './notices.tsx';
import { PAGES } from './pages.ts';
import { pageOf, unescaped } from './path.ts';
import { SearchBox } from './search-box.tsx';
import { ThemeSwitch } from './theme.tsx';

export function Shell({ children }: { readonly children: ReactNode }) {
  const { me, local, signOut } = useSession();
  const [location, navigate] = useLocation();
  useGoKeys(navigate);
  useTitle(location);
  useFocusOfPage(location);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="top">
        <Link href="/runs" className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" /> Cairn
        </Link>
        <SearchBox />
        <span className="who" title={me.principal}>
          {local ? 'local cloud' : me.tenantId} · {me.role}
        </span>
        <KeyHelp />
        <ThemeSwitch />
        <button type="button" className="plain" onClick={signOut}>
          Sign out
        </button>
      </header>
      <nav aria-label="Pages">
        {PAGES.map(({ path, name, letter }) => (
          <Link
            key={path}
            href={path}
            aria-current={location.startsWith(path) ? 'page' : undefined}
            title={`g then ${letter}`}
          >
            {name}
            {path === '/inbox' && <InboxCount />}
          </Link>
        ))}
      </nav>
      <main id="content" tabIndex={-1}>
        <div className="messages">
          <Notices />
          <LateRefusals />
          <ClosedForms />
        </div>
        {children}
      </main>
    </div>
  );
}

/** Limit of the characters from the address in the title, because an address can contain anything. */
const MAX_TITLE = 100;

/** Sets the title of the document; the page of a run sets its own. */
function useTitle(location: string): void {
  useEffect(() => {
    const page = PAGES.find(({ path }) => path === location || location.startsWith(`${path}/`));
    if (pageOf(location) === 'run') return;
    const one = visibleText(unescaped(location.split('/')[2] ?? '')).slice(0, MAX_TITLE);
    document.title = [one, page?.name, 'Cairn'].filter(Boolean).join(' · ');
  }, [location]);
}

/** Moves the focus to a new page after the old one is gone: Tab continues there, and a screen reader reads it. */
function useFocusOfPage(location: string): void {
  const before = useRef(location);
  useEffect(() => {
    if (before.current === location) return;
    before.current = location;
    focusIfLost();
  }, [location]);
}

/** `g` and the letter of a page within a second. */
const CHORD_MS = 1_000;

function useGoKeys(navigate: (path: string) => void): void {
  const armedAt = useRef(Number.NEGATIVE_INFINITY);
  usePageKeys((event) => {
    if (!isCommand(event)) return;
    const isArmed = event.timeStamp - armedAt.current < CHORD_MS;
    armedAt.current = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
    const page = PAGES.find(({ letter }) => letter === event.key);
    if (page && isArmed) navigate(page.path);
  });
}
