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

/// Found by a search in OKLab for colours that keep apart, each pair and each
/// from the three greys, in normal vision and under simulated protanopia,
/// deuteranopia and tritanopia (Machado et al., TVCG 2009), and that have a
/// contrast of 3 : 1 or more with the page; for each background by itself,
/// first ten and then ten more. A test holds what was reached.
const HUES: [Hue; 20] = [
    hue(0x0090fc, 0x00c0fc, 33),  // blue
    hue(0xa80c00, 0xe40018, 160), // red
    hue(0x3c9000, 0x60b40c, 70),  // green
    hue(0x7830fc, 0x9c3cc0, 99),  // violet
    hue(0xfc4860, 0xfc9078, 203), // coral
    hue(0x900090, 0xfc3cb4, 163), // magenta
    hue(0x0000d8, 0x5478fc, 62),  // deep blue
    hue(0x540000, 0xfccc00, 130), // brown, amber on dark
    hue(0xcc54cc, 0x48fc90, 170), // pink, mint on dark
    hue(0x3c006c, 0x307800, 37),  // dark purple, dark green on dark
    hue(0x8448c0, 0xb478d8, 98),  // lavender
    hue(0xcc2484, 0xe49ccc, 169), // rose
    hue(0x780c00, 0xc07854, 131), // rust
    hue(0x845460, 0xa85454, 95),  // dusty red
    hue(0x243c6c, 0x2460e4, 25),  // navy
    hue(0x246030, 0xa8cca8, 65),  // forest
    hue(0x486c84, 0xa8fccc, 73),  // slate
    hue(0x7878a8, 0x489cfc, 68),  // steel
    hue(0x00303c, 0xccfc54, 30),  // petrol, lime on dark
    hue(0x6000b4, 0x786084, 97),  // indigo
];
const NOISE_HUE: Hue = hue(0x8d9297, 0x7b8187, 245);
/// Phases beyond those that have a colour of their own.
const REST_HUE: Hue = hue(0x464b50, 0xd0d4d8, 240);
/// Near the page's own colour: what shows it has a frame.
const FILTERED_HUE: Hue = hue(0xc9cdd1, 0x4a5056, 250);
/// Phases that have a colour of their own; all that follow share one.
pub const N_COLOURS: u32 = HUES.len() as u32;

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

fn of(what: Coloured) -> &'static Hue {
    match what {
        Coloured::Place(i) => HUES.get(i).unwrap_or(&REST_HUE),
        Coloured::Noise => &NOISE_HUE,
        Coloured::Filtered => &FILTERED_HUE,
    }
}

/// Colours of a label on a light and on a dark page.
pub fn colours(of_what: impl Into<Coloured>) -> (Rgb, Rgb) {
    let hue = of(of_what.into());
    (hue.light, hue.dark)
}

/// The terminal's colour of a label, of 256.
pub fn ansi(of_what: impl Into<Coloured>) -> u8 {
    of(of_what.into()).ansi
}

/// The colours of a label as a rule for elements of that class: its own, and
/// that of text on it.
pub fn css(class: &str, label: u32) -> String {
    let (light, dark) = colours(label);
    format!(
        ".{class} {{ --light: {}; --dark: {}; --inside-light: {}; --inside-dark: {}; }}\n",
        hex(light),
        hex(dark),
        on(light),
        on(dark)
    )
}

/// Black or white, whichever reads better on a colour (WCAG 2 luminance).
pub fn on(colour: Rgb) -> &'static str {
    let linear = colour.map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    });
    let luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    if luminance > 0.179 { "#000000" } else { "#ffffff" }
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

    /// Every pair that a report can show together, in four kinds of vision.
    #[test]
    fn all_that_is_shown_together_stays_apart_for_colour_blind_readers() {
        // Okabe and Ito's seven colours alone keep 0.076 by this measure.
        for (phases, least) in [(10, 0.085), (N_COLOURS, 0.06)] {
            // Noise, those that share a colour, what was set aside.
            let numbers = (0..=phases).chain([N_COLOURS + 1]).map(Coloured::from);
            let all = numbers.chain([Coloured::Filtered]);
            let (light, dark): (Vec<Rgb>, Vec<Rgb>) = all.map(colours).unzip();
            assert!(closest(&light) > least, "{phases} on light: {}", closest(&light));
            assert!(closest(&dark) > least, "{phases} on dark: {}", closest(&dark));
        }
    }

    #[test]
    fn phases_and_noise_stand_out_from_the_page() {
        for label in 0..=N_COLOURS + 1 {
            let (light, dark) = colours(label);
            assert!(contrast(light, rgb(0xff_ffff)) >= 3.0, "label {label} on light");
            for page in [0x10_1316, 0x14_171a] {
                assert!(
                    contrast(dark, rgb(page)) >= 3.0,
                    "label {label} on dark: {}",
                    contrast(dark, rgb(page))
                );
            }
        }
    }

    #[test]
    fn no_two_phases_share_a_colour_but_those_that_are_folded() {
        let mut seen: Vec<_> = (1..=N_COLOURS + 1).map(colours).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), N_COLOURS as usize + 1);
        assert_eq!(colours(N_COLOURS + 1), colours(88_u32));
        let mut terminal: Vec<_> = (1..=N_COLOURS).map(ansi).collect();
        terminal.sort_unstable();
        terminal.dedup();
        assert_eq!(terminal.len(), N_COLOURS as usize);
    }
}
