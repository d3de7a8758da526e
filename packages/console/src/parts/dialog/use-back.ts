/**
 * The browser's Back while a dialog is open: it closes the dialog instead of leaving the page. A dialog with typed text, or one
 * that cannot be closed, such as a sign-in over a form, stays until Back is pressed again. In browsers without the Navigation
 * API (Firefox before 147) Back leaves the page.
 */
import { type RefObject, useEffect, useState } from 'react';

interface Back {
  /** True after Back was prevented once. */
  readonly isHeldUp: boolean;
  /** Must be called by React for each input: an update before React's own would draw the fields without the typed text. */
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
      // The page itself also navigates back, when a form of its address is closed.
      const isBack = event.navigationType === 'traverse' && event.userInitiated;
      if (!isBack || !event.cancelable || isHeldUp || element.current !== topDialog()) return;
      // Within the page, Back leaves the address of the dialog, which closes it.
      const isWithinPage = new URL(event.destination.url).pathname === window.location.pathname;
      // A dialog without `onClose` may cover a form with typed text.
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

/** Returns the topmost dialog. */
function topDialog(): Element | undefined {
  return [...document.querySelectorAll('dialog[open]')].at(-1);
}
