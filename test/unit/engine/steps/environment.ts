import type { Test } from 'tap';

/** Sets environment variables of this process, or deletes undefined ones, until the test ends. */
export function setEnvironment(
  t: Test,
  changes: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value] of Object.entries(changes)) {
    const before = process.env[name];
    t.teardown(() => assign(name, before));
    assign(name, value);
  }
}

function assign(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
