//! Colours of phases, on light and on dark.

use likewise::bursts::BurstLabel;

/// Red, green and blue, sRGB.
pub type Rgb = [u8; 3];

/// One phase colour: the same hue for a light and a dark page, and the
/// nearest of the 256 terminal colours that reads on both.
struct Hue {
    light: Rgb,
    dark: Rgb,
    ansi: u8,
}

const fn hue(light: u32, dark: u32, ansi: u8) -> Hue {
    Hue { light: rgb(light), dark: rgb(dark), ansi }
}

const fn rgb(hex: u32) -> Rgb {
    [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8]
}

/// Ten hues that start from Okabe and Ito's set and Paul Tol's "muted", moved
/// in OKLab until every pair, and each against the grey of noise, stays apart
/// in normal vision and under simulated protanopia, deuteranopia and
/// tritanopia (Machado et al., TVCG 2009), separately for each background.
const HUES: [Hue; 10] = [
    hue(0x1f5e88, 0x4497fd, 32),  // blue
    hue(0xddab21, 0xf8cf52, 178), // amber
    hue(0x398969, 0x71e6d5, 36),  // green
    hue(0xb762b2, 0xc86bbb, 170), // pink
    hue(0x3facf5, 0x94bcfa, 117), // sky
    hue(0xaf5101, 0xd5611f, 166), // vermillion
    hue(0x932c56, 0xe49296, 161), // wine
    hue(0xa0910f, 0xb5b10e, 142), // olive
    hue(0x4928b0, 0x5658e8, 62),  // indigo
    hue(0x544500, 0x964a1d, 94),  // brown
];
const NOISE_HUE: Hue = hue(0x9aa0a6, 0x6b7177, 245);
const FILTERED_HUE: Hue = hue(0xd3d7da, 0x3c4248, 240);
/// Plain, lighter, darker.
const VARIANTS: usize = 3;
/// Phases after which the colours repeat.
pub const N_COLOURS: u32 = (HUES.len() * VARIANTS) as u32;

/// What has a colour.
#[derive(Clone, Copy, Debug)]
pub enum Coloured {
    /// A phase, a class, a cluster or a region, from 0.
    Place(usize),
    /// What is in none.
    Noise,
    /// What was set aside.
    Filtered,
}

impl From<BurstLabel> for Coloured {
    fn from(label: BurstLabel) -> Self {
        match label {
            BurstLabel::Noise => Self::Noise,
            BurstLabel::Phase(id) => Self::Place(id.index()),
            _ => Self::Filtered,
        }
    }
}

impl From<u32> for Coloured {
    /// Numbers count from 1, and 0 is noise.
    fn from(number: u32) -> Self {
        number.checked_sub(1).map_or(Self::Noise, |index| Self::Place(index as usize))
    }
}

fn of(what: Coloured) -> (&'static Hue, usize) {
    match what {
        Coloured::Place(i) => (&HUES[i % HUES.len()], i / HUES.len() % VARIANTS),
        Coloured::Noise => (&NOISE_HUE, 0),
        Coloured::Filtered => (&FILTERED_HUE, 0),
    }
}

/// Colours of a label on a light and on a dark page.
///
/// Phases 11 to 20 are lighter, 21 to 30 darker, then all repeat. The
/// percentages keep the thirty as far apart as they go, in normal vision.
pub fn colours(of_what: impl Into<Coloured>) -> (Rgb, Rgb) {
    let (hue, variant) = of(of_what.into());
    match variant {
        0 => (hue.light, hue.dark),
        1 => (mix(hue.light, 255, 35), mix(hue.dark, 255, 60)),
        _ => (mix(hue.light, 0, 30), mix(hue.dark, 0, 50)),
    }
}

/// The terminal's colour of a label, of 256.
pub fn ansi(of_what: impl Into<Coloured>) -> u8 {
    of(of_what.into()).0.ansi
}

/// What sets the colour apart from the first ten, in a word, or nothing.
pub fn variant(of_what: impl Into<Coloured>) -> &'static str {
    ["", "lighter", "darker"][of(of_what.into()).1]
}

fn mix(colour: Rgb, towards: u8, percent: u32) -> Rgb {
    colour.map(|c| ((u32::from(c) * (100 - percent) + u32::from(towards) * percent) / 100) as u8)
}

/// `#rrggbb`.
pub fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vector = [f64; 3];

    fn dot(m: [Vector; 3], v: Vector) -> Vector {
        m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
    }

    fn linear(c: Rgb) -> Vector {
        c.map(|c| {
            let c = f64::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn oklab(rgb: Vector) -> Vector {
        let lms = dot(
            [
                [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
                [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
                [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
            ],
            rgb.map(|c| c.clamp(0.0, 1.0)),
        );
        dot(
            [
                [0.210_454_255_3, 0.793_617_785, -0.004_072_046_8],
                [1.977_998_495_1, -2.428_592_205, 0.450_593_709_9],
                [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766],
            ],
            lms.map(f64::cbrt),
        )
    }

    /// Machado et al. at severity 1: none, protan, deutan, tritan.
    const VISION: [[Vector; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    fn closest(colours: &[Rgb]) -> f64 {
        let mut least = f64::INFINITY;
        for matrix in VISION {
            let seen: Vec<Vector> = colours.iter().map(|&c| oklab(dot(matrix, linear(c)))).collect();
            for i in 0..seen.len() {
                for j in 0..i {
                    let d = (0..3).map(|k| (seen[i][k] - seen[j][k]).powi(2)).sum::<f64>().sqrt();
                    least = least.min(d);
                }
            }
        }
        least
    }

    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let luminance = |c| {
            let [r, g, b] = linear(c);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn ten_phases_and_noise_stay_apart_for_colour_blind_readers() {
        let (light, dark): (Vec<Rgb>, Vec<Rgb>) = (0..=10u32).map(colours).unzip();
        // Okabe and Ito's seven colours alone keep 0.076 by this measure.
        assert!(closest(&light) > 0.075, "{}", closest(&light));
        assert!(closest(&dark) > 0.075, "{}", closest(&dark));
    }

    #[test]
    fn ten_phases_stand_out_from_the_page() {
        for label in 1..=10u32 {
            let (light, dark) = colours(label);
            assert!(contrast(light, rgb(0xffffff)) > 2.0, "phase {label} on light");
            assert!(contrast(dark, rgb(0x14171a)) > 2.7, "phase {label} on dark");
        }
    }

    #[test]
    fn variants_differ_until_they_repeat() {
        let mut seen: Vec<_> = (1..=30u32).map(colours).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 30);
        assert_eq!(colours(1u32), colours(31u32));
        assert_eq!([10u32, 11, 21, 0].map(variant), ["", "lighter", "darker", ""]);
    }
}
