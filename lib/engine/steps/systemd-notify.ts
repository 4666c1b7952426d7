import { execa } from 'execa';
import { inOneLine } from '../../base/printable.ts';

/**
 * Sends notifications to systemd if the agent was started by a unit. Node has no
 * unix datagram sockets, so a child process, `systemd-notify`, sends them; the unit
 * needs `NotifyAccess=all`. Messages are sent one at a time; of several waiting
 * statuses only the newest is sent.
 */
export class SystemdNotifier {
  readonly #enabled = process.env.NOTIFY_SOCKET !== undefined;
  #status: string | undefined;
  #sending: Promise<void> | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  ready(): Promise<void> {
    return this.#send(['--ready']);
  }

  /** `STATUS=` as `systemctl status` shows it. */
  status(text: string): void {
    // A further line would be another assignment, such as MAINPID=.
    const line = inOneLine(text);
    if (!this.#enabled || line === this.#status) return;
    this.#status = line;
    this.#sending ??= this.#drain();
  }

  /** Requests that much more time before systemd times out a starting or stopping unit. */
  extendTimeout(ms: number): Promise<void> {
    return this.#send([`EXTEND_TIMEOUT_USEC=${Math.round(ms * 1000)}`]);
  }

  /** Feeds the watchdog at half its interval, from the event loop: if that hangs, it expires. */
  startWatchdog(): void {
    const intervalUs = Number(process.env.WATCHDOG_USEC ?? 0);
    if (!this.#enabled || intervalUs <= 0) return;
    const feed = () => void this.#send(['WATCHDOG=1']);
    this.#watchdog = setInterval(feed, intervalUs / 2000);
    this.#watchdog.unref();
    feed();
  }

  async stop(): Promise<void> {
    clearInterval(this.#watchdog);
    await this.#sending;
  }

  async #drain(): Promise<void> {
    for (let sent: string | undefined; sent !== this.#status; ) {
      sent = this.#status;
      await this.#send([`--status=${sent}`]);
    }
    this.#sending = undefined;
  }

  async #send(args: string[]): Promise<void> {
    if (!this.#enabled) return;
    // A message that systemd does not accept must not end the work.
    await execa('systemd-notify', args, { timeout: 10_000, reject: false, stdio: 'ignore' });
  }
}
