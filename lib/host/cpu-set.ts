/** CPU numbers in Linux's list format (man 7 cpuset): `0`, `0-1,4`. */
export const CPU_SET = /^\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*$/;

/**
 * The numbers in a CPU list, in ascending order and each once; undefined if it is not a list, or a
 * range in it ends before it begins.
 */
export function parseCpuSet(list: string): number[] | undefined {
  if (!CPU_SET.test(list)) return undefined;
  const cpus = new Set<number>();
  for (const range of list.split(',')) {
    const [first = 0, last = first] = range.split('-').map(Number);
    if (last < first) return undefined;
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}
