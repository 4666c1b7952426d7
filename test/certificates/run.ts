/** `npm run test:certificates [NAME...]`: years of a host's certificates, in some minutes. */
import { certificates } from '../../lab/certificates/index.ts';
import { runScenarios } from '../e2e/run-scenarios.ts';

await runScenarios(Object.keys(certificates));
