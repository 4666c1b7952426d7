import type { Benchmark } from './benchmark.ts';

/** In the order in which they run: short ones first. */
export const benchmarks: readonly Benchmark[] = [];
