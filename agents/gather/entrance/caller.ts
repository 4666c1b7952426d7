import { isSea } from 'node:sea';
import type { Owner } from './output.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Owner of the bundle when root collects it: the user who called sudo, if any. */
export function callerOf({ SUDO_UID, SUDO_GID }: Environment, uid: number): Owner | undefined {
  const caller = { uid: idOf(SUDO_UID), gid: idOf(SUDO_GID) };
  if (uid !== 0 || caller.uid === undefined || caller.gid === undefined) return undefined;
  return caller.uid === 0 ? undefined : { uid: caller.uid, gid: caller.gid };
}

function idOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** The command that restarts this program: the executable itself, or Node with the same script. */
export function ownCommand(): readonly string[] {
  const [, script = ''] = process.argv;
  return isSea() ? [process.execPath] : [process.execPath, script];
}
