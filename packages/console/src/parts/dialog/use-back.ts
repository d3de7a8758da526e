/**
 * The browser's Back while a dialog is open: it closes the dialog instead of leaving its page. A dialog in which something was typed
 * stays until Back is pressed again, as does one that cannot be closed, such as a sign-in over a form. In browsers without the
 * Navigation API (Firefox before 147) Back leaves the page.
 */
import { type RefObject, useEffect, useState } from 'react';

interface Back {
  /** True while Back was held up. */
  readonly isHeldUp: boolean;
  /** To be called by React for each input in the dialog: an update before React's own would draw fields without what was just typed. */
  onInput(): void;
}

export function useBack(
  element: RefObject<HTMLDialogElement | null>,
  onClose: (() => void) | undefined,
): Back {
  const [isTyped, setTyped] = useState(false);
  const [isHeldUp, setHeldUp] = useState(false);
  const onInput = () => {
    setTyped(true);
    setHeldUp(false);
  };
  useEffect(() => {
    if (!('navigation' in window)) return;
    const onNavigate = (event: NavigateEvent) => {
      // The page itself goes back when a form of its address is closed.
      const isBack = event.navigationType === 'traverse' && event.userInitiated;
      if (!isBack || !event.cancelable || isHeldUp || element.current !== topDialog()) return;
      // Within the page, Back closes the dialog whose address it leaves.
      const isWithinPage = new URL(event.destination.url).pathname === window.location.pathname;
      // Without `onClose`, there may be a form below it.
      const isKept = isTyped || !onClose;
      if (isWithinPage && !isKept) return;
      event.preventDefault();
      if (isKept) setHeldUp(true);
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
  return { isHeldUp, onInput };
}

/** The one that the person sees. */
function topDialog(): Element | undefined {
  return [...document.querySelectorAll('dialog[open]')].at(-1);
}
