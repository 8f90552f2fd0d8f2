/** A straight line through measured points, and how far it can be trusted beyond them. */

export interface Line {
  readonly intercept: number;
  readonly slope: number;
  /** Of the points about the line, in the unit of y. */
  readonly standardError: number;
}

export interface Prediction {
  readonly value: number;
  /** Half of the interval that holds 19 of 20 further points, if the line is true. */
  readonly margin: number;
}

/**
 * Student's t for 0.975 by degrees of freedom, from 1.
 * https://www.itl.nist.gov/div898/handbook/eda/section3/eda3672.htm
 */
const T_975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447] as const;

export function fitLine(xs: readonly number[], ys: readonly number[]): Line {
  const [meanX, meanY] = [mean(xs), mean(ys)];
  const slope = sum(xs.map((x, index) => (x - meanX) * ((ys[index] ?? Number.NaN) - meanY))) / spreadOf(xs);
  const intercept = meanY - slope * meanX;
  const left = sum(xs.map((x, index) => ((ys[index] ?? Number.NaN) - intercept - slope * x) ** 2));
  return { intercept, slope, standardError: Math.sqrt(left / Math.max(1, xs.length - 2)) };
}

export function predict({ intercept, slope, standardError }: Line, xs: readonly number[], x: number): Prediction {
  const t = T_975[xs.length - 3] ?? 2;
  return {
    value: intercept + slope * x,
    margin: t * standardError * Math.sqrt(1 + 1 / xs.length + (x - mean(xs)) ** 2 / spreadOf(xs)),
  };
}

function spreadOf(values: readonly number[]): number {
  const middle = mean(values);
  return sum(values.map((value) => (value - middle) ** 2));
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
