/** Processor time of this process by step; the first includes the start of the process. */
export class ProcessorTime {
  #counted: NodeJS.CpuUsage = { user: 0, system: 0 };

  /** Microseconds since the last call. */
  take(): number {
    const { user, system } = process.cpuUsage(this.#counted);
    this.#counted = process.cpuUsage();
    return user + system;
  }
}
