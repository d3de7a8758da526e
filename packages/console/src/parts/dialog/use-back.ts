/**
 * The browser's Back and Escape while a dialog is open: they close the dialog, and Back does not leave the page. A dialog with
 * typed text stays until either is pressed again; so does, for Back, one that cannot be closed, such as a sign-in over a form.
 * In browsers without the Navigation API (Firefox before 147) Back leaves the page.
 */
import { type RefObject, useEffect, useState } from 'react';

type LeavingKey = 'Back' | 'Escape';

interface Back {
  /** The key that was prevented once. */
  readonly heldUp: LeavingKey | undefined;
  /** Closes the dialog, or holds Escape up. @param isFinal true if the browser closes the dialog in any case */
  onEscape(isFinal: boolean): void;
  /** Must be called by React for each input: an update before React's own would draw the fields without the typed text. */
  onInput(event: { readonly target: EventTarget }): void;
}

export function useBack(
  element: RefObject<HTMLDialogElement | null>,
  onClose: (() => void) | undefined,
  isSent: boolean,
): Back {
  const [isTyped, setTyped] = useState(false);
  const [hasText, setHasText] = useState(false);
  const [heldUp, setHeldUp] = useState<LeavingKey>();
  const isHeldUp = heldUp !== undefined;
  const [wasSent, setWasSent] = useState(isSent);
  // Sending is an answer too: the note is outdated, and the next Back must not leave the page while requests are under way.
  if (isSent !== wasSent) {
    setWasSent(isSent);
    setHeldUp(undefined);
  }
  const onInput = ({ target }: { readonly target: EventTarget }) => {
    setTyped(true);
    if (isTextField(target)) setHasText(true);
    setHeldUp(undefined);
  };
  const onEscape = (isFinal: boolean) => {
    // A choice is made again in a moment, and what was sent is not lost with the form.
    if (onClose && hasText && !isSent && !isHeldUp && !isFinal) setHeldUp('Escape');
    else onClose?.();
  };
  useEffect(() => {
    if (!('navigation' in window)) return;
    const onNavigate = (event: NavigateEvent) => {
      // The page itself also navigates back, when a form of its address is closed.
      const isBack = event.navigationType === 'traverse' && event.userInitiated;
      if (!isBack || !event.cancelable || isHeldUp || element.current !== topDialog()) return;
      // Within the page, Back leaves the address of the dialog, which closes it.
      const isWithinPage = new URL(event.destination.url).pathname === window.location.pathname;
      // A dialog without `onClose` may cover a form with typed text.
      const isKept = isTyped || !onClose;
      if (isWithinPage && !isKept) return;
      event.preventDefault();
      if (isKept) setHeldUp('Back');
      else onClose();
    };
    window.navigation.addEventListener('navigate', onNavigate);
    return () => window.navigation.removeEventListener('navigate', onNavigate);
  }, [element, isTyped, isHeldUp, onClose]);
  useEffect(() => {
    if (!isTyped) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isTyped]);
  return { heldUp, onInput, onEscape };
}

function isTextField(target: EventTarget): boolean {
  if (target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && target.type !== 'radio' && target.type !== 'checkbox';
}

/** Returns the topmost dialog. */
function topDialog(): Element | undefined {
  return [...document.querySelectorAll('dialog[open]')].at(-1);
}
