import {
  type IgnitionConfig,
  invalidConfig,
  serializeConfig,
} from '../../lib/render/ignition/config.ts';
import { validateConfigText } from '../../lib/render/ignition/validate.ts';

/** The text of a config that is to be written. @throws Failure if it is not a valid config */
export function soundText(config: IgnitionConfig): string {
  const text = serializeConfig(config);
  const faults = validateConfigText(text);
  if (faults.length > 0) throw invalidConfig('this program', faults);
  return text;
}
