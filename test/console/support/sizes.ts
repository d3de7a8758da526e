/** Sizes at which every page must be of use: a desktop, a phone, and the desktop at a zoom of 200 %, which halves the page. */
export const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
  zoomed: { width: 640, height: 400 },
} as const;

/** A desktop at a zoom of 400 %: nothing may have to be read in two directions. */
export const QUARTERED = { width: 320, height: 256 } as const;
