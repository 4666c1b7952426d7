/** A systemd unit as an Ignition config takes it. */
export interface UnitFile {
  readonly name: string;
  readonly contents: string;
  /** Enabled by its [Install] section at the first boot; others are started by another unit. */
  readonly enabled: boolean;
}
