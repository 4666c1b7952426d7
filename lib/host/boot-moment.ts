/** A moment on the clock that starts at boot: the boot id and the seconds since that boot. */
export interface BootMoment {
  readonly boot: string;
  readonly up: number;
}
