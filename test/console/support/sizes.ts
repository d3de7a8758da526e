/** Sizes at which every page must be usable: a desktop, a phone, and the desktop at a zoom of 200 %, which halves the viewport. */
export const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
  zoomed: { width: 640, height: 400 },
} as const;

/** A desktop at a zoom of 400 %, at which no page may scroll sideways. */
export const QUARTERED = { width: 320, height: 256 } as const;
