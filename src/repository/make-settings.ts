import type { DictionarySet } from './dictionaries/folder.js';
import { dictionaryMap } from './dictionaries/folder.js';
import type { PreparedDictionaries } from './dictionaries/prepare.js';
import type { FilledOptions } from './options.js';
import type { ConversionPlan } from './plan.js';
import type { ConversionDictionaries, ConversionSettings } from './settings.js';
import type { TargetModes } from './target-layout.js';

/** What dictionaries have to do with a conversion from a store with some to one with others. */
export const conversionDictionaries = (source: DictionarySet, { set, fate }: Pick<PreparedDictionaries, 'set' | 'fate'>): ConversionDictionaries => ({ source: dictionaryMap(source), target: set, fate });

/** The settings of a conversion, as soon as its dictionaries are known. */
export function settingsFor(
  chosen: Pick<ConversionPlan, 'to' | 'levels'>,
  options: FilledOptions,
  modes: Pick<TargetModes, 'file'>,
  source: DictionarySet,
): (prepared: Pick<PreparedDictionaries, 'set' | 'fate'>) => ConversionSettings {
  return (prepared) => ({
    engine: chosen.to,
    levels: chosen.levels,
    checksum: options.checksum,
    checkChunks: options.check === 'chunks',
    keepGoing: options.keepGoing,
    redelta: options.redelta,
    policy: options.policy,
    generaldelta: options.generaldelta,
    dictionaries: conversionDictionaries(source, prepared),
    fileMode: modes.file,
  });
}
